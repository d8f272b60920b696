"""The version, alone in a file that imports nothing, so that `farm --version` costs nothing."""

__version__ = "0.1.0"
