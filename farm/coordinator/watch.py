"""The watch: which cells have been silent for too long. It suspects; only the store convicts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from farm.coordinator.ports import Rhythm
from farm.coordinator.window import Live, Phase, Window

_MOST_BETWEEN_LOOKS_S = 2.0
_LATE_S = 2.0
"""Longer than a claim that was granted in time takes to be seen in the store."""


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
    seen_s: float = 0.0
    """For how long it has been seen; what nobody could see does not count."""


@dataclass(frozen=True, slots=True)
class _Sent:
    attempt: int
    at_s: float
    wait_s: float
    refusals: int = 0


def _is_current(sent: _Sent, live: Live | None) -> bool:
    return live is not None and live.attempt == sent.attempt


class Watch:
    """Remembers when each outstanding cell was last heard of; times are monotonic seconds."""

    def __init__(self, rhythm: Rhythm) -> None:
        self._rhythm = rhythm
        self._absences = dict[int, _Absence]()
        self._sent = dict[int, _Sent]()
        self._late = dict[int, float]()
        """Since when each queued cell has been too late for its time window."""
        self._looked_s = 0.0

    def sent(self, index: int, attempt: int, now_s: float) -> None:
        """Note a ticket; a repeated one waits twice as long."""
        before = self._sent.get(index)
        if before is not None and before.attempt == attempt:
            wait_s = min(before.wait_s * 2, self._rhythm.overdue_most_s)
            self._sent[index] = replace(before, at_s=now_s, wait_s=wait_s)
        else:
            self._sent[index] = _Sent(attempt, now_s, self._rhythm.overdue_s)

    def refused(self, index: int, attempt: int) -> None:
        """Note that the ticket reached workers with room, and none of them could begin its cell."""
        sent = self._sent.get(index)
        if sent is not None and sent.attempt == attempt:
            self._sent[index] = replace(sent, refusals=sent.refusals + 1)

    def begun(self, index: int, attempt: int) -> None:
        """Note that a worker has begun the attempt, so that its ticket is no longer waited for."""
        sent = self._sent.get(index)
        if sent is not None and sent.attempt == attempt:
            del self._sent[index]

    @property
    def refusals(self) -> int:
        """How often the ticket was refused that was refused most."""
        return max((sent.refusals for sent in self._sent.values()), default=0)

    def finished_without_trace(self, index: int, attempt: int) -> None:
        """Note that a worker says it is done with the attempt and the store shows nothing: no need to be patient."""
        self._absences[index] = _Absence(attempt, float("inf"))

    def absent(self, window: Window, held: frozenset[int], now_s: float) -> Iterator[Suspect]:
        """Yield running cells that have had no lease for a while; `held` are the cells with one."""
        running = {index: live for index, live in window.cells.items() if live.phase is Phase.RUNNING}
        # between two looks far apart lies an outage, in which nobody could renew a lease
        passed_s = min(now_s - self._looked_s, _MOST_BETWEEN_LOOKS_S)
        self._looked_s = now_s
        self._absences = {
            index: replace(absence, seen_s=absence.seen_s + passed_s)
            for index, absence in self._absences.items()
            if index in running and index not in held and running[index].attempt == absence.attempt
        }
        for index, live in running.items():
            if index in held:
                continue
            absence = self._absences.setdefault(index, _Absence(live.attempt))
            if absence.seen_s > 0:  # a lease that ends between two looks has most often just finished
                yield Suspect(index, live.attempt, is_gone=absence.seen_s >= self._rhythm.absence_s)

    def overdue(self, window: Window, now_s: float, has_idle_slots: Callable[[int], bool]) -> Iterator[Suspect]:
        """Yield queued cells whose ticket has been on its way for too long; sooner, where a slot is idle for them."""
        queued = {index: live for index, live in window.cells.items() if live.phase is Phase.QUEUED}
        self._sent = {index: sent for index, sent in self._sent.items() if _is_current(sent, window.cells.get(index))}
        for index, live in queued.items():
            sent = self._sent.get(index)
            if sent is None:
                continue  # it is about to be sent
            patience_s = sent.wait_s if has_idle_slots(index) else self._rhythm.overdue_most_s
            if now_s - sent.at_s >= patience_s:
                yield Suspect(index, live.attempt, is_gone=True)

    def late(self, window: Window, fits: Callable[[int], bool], now_s: float) -> Iterator[Suspect]:
        """Yield queued cells that have had too little time left for a while: every worker refuses their tickets."""
        queued = (index for index, live in window.cells.items() if live.phase is Phase.QUEUED and not fits(index))
        self._late = {index: self._late.get(index, now_s) for index in queued}
        for index, since_s in self._late.items():
            if now_s - since_s >= _LATE_S:
                yield Suspect(index, window.cells[index].attempt, is_gone=True)
