"""One sandbox's control group: the protocol that both kernel interfaces keep."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the whole tree may use."""

    memory_bytes: int
    processes: int
    """Ours around the guest included."""
    cpus: float | None = None
    """Processors' worth of time; None is as much as there is."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the whole tree used; None is what this kernel does not count."""

    cpu_s: float | None
    peak_memory_bytes: int | None
    peak_processes: int | None
    touched: tuple[str, ...]
    """Names of the limits that were run into, whether or not that ended anything."""


class Group(Protocol):
    """A control group made for one run."""

    doors: tuple[int, ...]
    """Open files: whoever writes 0 into each is in."""

    def hold_to(self, bounds: Bounds) -> None:
        """Set its bounds. Raises SandboxError."""
        ...

    def kill(self) -> None:
        """Kill whoever is in, all at once, so that none can start another meanwhile."""
        ...

    def is_empty(self) -> bool:
        """Tell whether nobody is in any more."""
        ...

    def has_run_out(self) -> bool:
        """Tell whether the kernel killed somebody in it for want of memory."""
        ...

    def usage(self) -> Usage:
        """Tell what was used, until `remove`."""
        ...

    def remove(self) -> None:
        """Remove it, once it is empty; what can't be removed is left to `Groups.clear_leftovers` of a later owner."""
        ...


class Groups(Protocol):
    """Makes control groups, below a folder of this process's own."""

    kind: str

    def make(self) -> Group:
        """Make a group without bounds yet. Raises SandboxError."""
        ...

    def clear_leftovers(self) -> int:
        """Kill and remove what dead owners left, and tell how many of them there were."""
        ...

    def close(self) -> None:
        """Remove this process's folder."""
        ...
