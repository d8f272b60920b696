"""Live notes of running sessions: told with each heartbeat, kept for whoever looks."""

from typing import Protocol

from farm.model import CellId, LiveNote, SweepId


class LiveNotes(Protocol):
    """The latest note of each running cell. May be lost. May raise TransientError."""

    def tell(self, sweep: SweepId, note: LiveNote) -> None:
        """Put the note in the place of the cell's last one."""
        ...

    def drop(self, sweep: SweepId, cell: CellId) -> None:
        """Forget the cell's note: it does not run any more. Nothing happens where there is none."""
        ...

    def all(self, sweep: SweepId) -> tuple[LiveNote, ...]:
        """List the notes by cell. A cell whose worker died may still have one: its lease says whether it runs."""
        ...
