"""The machine that a worker runs on, as its heartbeat tells."""

from farm.model.base import Value


class Machine(Value):
    """What a host has, and how much of it is free now; None: nobody could tell."""

    architecture: str
    kernel: str
    cpus: int
    load: float
    """Of the last minute."""
    memory_bytes: int | None = None
    memory_free_bytes: int | None = None
    """What new programs may use without others being swapped out."""
    disk_bytes: int
    """Of the file system of the work root, as the next three."""
    disk_free_bytes: int
    inodes: int | None = None
    """None where the file system makes them as it goes."""
    inodes_free: int | None = None
