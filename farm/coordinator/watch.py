"""The watch: which cells have been silent for too long. It suspects; only the store convicts."""

from collections.abc import Iterator
from dataclasses import dataclass

from farm.coordinator.ports import Rhythm
from farm.coordinator.window import Phase, Window


@dataclass(frozen=True, slots=True)
class Suspect:
    """A running cell without a lease, or a ticket that nobody claimed."""

    index: int
    attempt: int
    is_gone: bool
    """Whether it has been silent so long that it counts as gone, unless the store knows better."""


@dataclass(frozen=True, slots=True)
class _Absence:
    attempt: int
    since_s: float


@dataclass(frozen=True, slots=True)
class _Sent:
    attempt: int
    at_s: float
    wait_s: float


class Watch:
    """Remembers when each outstanding cell was last heard of; times are monotonic seconds."""

    def __init__(self, rhythm: Rhythm) -> None:
        self._rhythm = rhythm
        self._absences = dict[int, _Absence]()
        self._sent = dict[int, _Sent]()

    def sent(self, index: int, attempt: int, now_s: float) -> None:
        """Note a ticket; a repeated one waits twice as long."""
        before = self._sent.get(index)
        is_repeat = before is not None and before.attempt == attempt
        wait_s = min(before.wait_s * 2, self._rhythm.overdue_most_s) if before and is_repeat else self._rhythm.overdue_s
        self._sent[index] = _Sent(attempt, now_s, wait_s)

    def finished_without_trace(self, index: int, attempt: int) -> None:
        """Note that a worker says it is done with the attempt and the store shows nothing: no need to be patient."""
        self._absences[index] = _Absence(attempt, float("-inf"))

    def absent(self, window: Window, held: frozenset[int], now_s: float) -> Iterator[Suspect]:
        """Yield running cells that have had no lease for a while; `held` are the cells with one."""
        running = {index: live for index, live in window.cells.items() if live.phase is Phase.RUNNING}
        self._absences = {
            index: absence
            for index, absence in self._absences.items()
            if index in running and index not in held and running[index].attempt == absence.attempt
        }
        for index, live in running.items():
            if index in held:
                continue
            absence = self._absences.setdefault(index, _Absence(live.attempt, now_s))
            if now_s > absence.since_s:  # a lease that ends between two looks has most often just finished
                is_gone = now_s - absence.since_s >= self._rhythm.absence_s
                yield Suspect(index, live.attempt, is_gone=is_gone)

    def overdue(self, window: Window, now_s: float, *, has_idle_slots: bool) -> Iterator[Suspect]:
        """Yield queued cells whose ticket has been on its way for too long."""
        queued = {index: live for index, live in window.cells.items() if live.phase is Phase.QUEUED}
        self._sent = {index: sent for index, sent in self._sent.items() if index in window.cells}
        for index, live in queued.items():
            sent = self._sent.setdefault(index, _Sent(live.attempt, now_s, self._rhythm.overdue_s))
            patience_s = sent.wait_s if has_idle_slots else self._rhythm.overdue_most_s
            if now_s - sent.at_s >= patience_s:
                yield Suspect(index, live.attempt, is_gone=True)
