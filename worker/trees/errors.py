"""What can be wrong with a folder of untrusted files."""


class TreeError(Exception):
    """The files can't be taken in: too many, too deep, too large, or not what a workspace may hold."""
