"""What can be wrong with a folder of untrusted files."""

from enum import StrEnum


class TreeError(Exception):
    """The files can't be taken in: too many, too deep, too large, or not what a workspace may hold."""


class TreeLimit(StrEnum):
    """The bounds of a tree, by the names under which they are recorded."""

    FILES = "workspace_files"
    """Too many files, folders and links, or too long paths in all."""
    BYTES = "workspace_bytes"
    """Too much in the files, or too much of it holes."""
    DEPTH = "workspace_depth"
    UNREADABLE = "workspace_unreadable"
    """Something is closed to us, or its path is longer than the kernel takes."""


class TreeLimitError(TreeError):
    """A tree breaks a bound of ours: the doing of whoever made it, and so data where that is a guest."""

    def __init__(self, limit: TreeLimit, detail: str) -> None:
        super().__init__(detail)
        self.limit = limit
