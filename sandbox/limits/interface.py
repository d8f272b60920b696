"""What the two versions of the kernel's interface have in common, and where each must speak for itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, Self

PERIOD_US = 100_000
_LEAST_QUOTA_US = 1000


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the whole tree may use."""

    memory_bytes: int
    processes: int
    """Ours around the guest included."""
    cpus: float | None = None
    """Processors' worth of time; None is as much as there is."""

    @property
    def quota_us(self) -> int | None:
        """Say how much time of every `PERIOD_US` that is."""
        return None if self.cpus is None else max(_LEAST_QUOTA_US, int(self.cpus * PERIOD_US))


class Place(Protocol):
    """One group's folders, or those that a process is in."""

    kind: ClassVar[str]

    @property
    def pids(self) -> Path:
        """The folder that counts processes."""
        ...

    def folders(self) -> tuple[Path, ...]:
        """Give each folder once."""
        ...

    def below(self, name: str) -> Self:
        """Name a group below these."""
        ...

    def pass_on(self, folder: Path) -> None:
        """Let `folder` have limited groups below it. Raises SandboxError."""
        ...

    def set_up(self) -> None:
        """Ready a group that was just made. Raises SandboxError."""
        ...

    def open_entry(self, folder: Path) -> int:
        """Open a file that lets in who has but one thread and writes 0 into it, or `folder`, to be born in."""
        ...

    def hold_to(self, bounds: Bounds) -> None:
        """Set its bounds but for the number of processes, which both versions name alike. Raises SandboxError."""
        ...

    def holds_sockets(self) -> bool:
        """Tell whether what waits in TCP's and UDP's sockets is bounded as well."""
        ...

    def kill(self) -> None:
        """Kill whoever is in, all at once, so that none can start another meanwhile; whoever is gone is no error."""
        ...

    def is_empty(self) -> bool:
        """Tell whether nobody is in any more."""
        ...

    def has_run_out(self) -> bool:
        """Tell whether the kernel killed somebody in it for want of memory."""
        ...

    def cpu_s(self) -> float | None:
        """Tell the processor time that was used; None where the kernel does not count it, as below."""
        ...

    def was_throttled(self) -> bool:
        """Tell whether the kernel stopped somebody in it for having had its share of a period."""
        ...

    def peak_memory_bytes(self) -> int | None:
        """Tell the most memory that was used at once, sockets included."""
        ...
