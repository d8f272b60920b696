"""The dispatch window: the cells that are neither through nor untouched, and how many more may join them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto


class Phase(Enum):
    """Where an attempt is."""

    READY = auto()
    """To be sent as soon as there is room: after a wait, a pause or a crash."""
    QUEUED = auto()
    RUNNING = auto()
    WAITING = auto()
    """Its wait before the attempt is not over; it holds no place."""
    SETTLING = auto()
    """Over; its result is being written."""


MAY_RUN = frozenset({Phase.READY, Phase.QUEUED, Phase.RUNNING})
SENT = frozenset({Phase.QUEUED, Phase.RUNNING})


@dataclass(frozen=True, slots=True)
class Live:
    """A cell's current attempt."""

    attempt: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class Window:
    """Cells by index; the counts are kept beside them so that counting costs no walk over all."""

    cells: Mapping[int, Live] = field(default_factory=dict)
    ready: frozenset[int] = frozenset()
    waiting: int = 0

    @classmethod
    def of(cls, cells: Mapping[int, Live]) -> "Window":
        """Count `cells`."""
        return cls(
            cells=cells,
            ready=frozenset(index for index, live in cells.items() if live.phase is Phase.READY),
            waiting=sum(live.phase is Phase.WAITING for live in cells.values()),
        )

    @property
    def outstanding(self) -> int:
        """Count the cells that hold a place: sent and not finished."""
        return len(self.cells) - len(self.ready) - self.waiting

    def put(self, index: int, live: Live) -> "Window":
        """Copy with the cell's attempt replaced."""
        return self._with({**self.cells, index: live}, index)

    def drop(self, index: int) -> "Window":
        """Copy without the cell."""
        if index not in self.cells:
            return self
        left = dict(self.cells)
        del left[index]
        return self._with(left, index)

    def without(self, indices: Iterable[int]) -> "Window":
        """Copy without the cells."""
        gone = self.cells.keys() & set(indices)
        return Window.of({index: live for index, live in self.cells.items() if index not in gone}) if gone else self

    def keep(self, held: Iterable[int]) -> "Window":
        """Copy with those of the cells that are new ready for their first attempt: something holds them back."""
        new = {index: Live(1, Phase.READY) for index in held if index not in self.cells}
        if not new:
            return self
        return Window(cells={**self.cells, **new}, ready=self.ready.union(new), waiting=self.waiting)

    def send(self, tickets: Iterable[tuple[int, int]]) -> "Window":
        """Copy with each (index, attempt) queued; only ready and new cells are sent."""
        sent = {index: Live(attempt, Phase.QUEUED) for index, attempt in tickets}
        return Window(cells={**self.cells, **sent}, ready=self.ready.difference(sent), waiting=self.waiting)

    def settle(self, indices: Iterable[int]) -> "Window":
        """Copy with these cells' first attempts over, and their results being written."""
        over = {index: Live(1, Phase.SETTLING) for index in indices}
        return Window(cells={**self.cells, **over}, ready=self.ready.difference(over), waiting=self.waiting)

    def _with(self, cells: Mapping[int, Live], index: int) -> "Window":
        old, new = self.cells.get(index), cells.get(index)
        was, is_now = (None if old is None else old.phase), (None if new is None else new.phase)
        ready = self.ready
        if was is not is_now and (was is Phase.READY or is_now is Phase.READY):
            ready = ready | {index} if is_now is Phase.READY else ready - {index}
        waiting = self.waiting + (is_now is Phase.WAITING) - (was is Phase.WAITING)
        return Window(cells=cells, ready=ready, waiting=waiting)
