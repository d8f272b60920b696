"""What an attempt tells while it runs: how far its session is, and what its provider does to its requests.

For people who watch, and for the coordinator's own notes: nothing is decided by it, and it may be lost.
"""

from collections import Counter, deque
from dataclasses import dataclass
from datetime import datetime

from farm.model import MOST_PREVIEW, CellEvent, EventKind, Lease, LiveNote, Pressure, RequestEnd
from farm.ports import Clock
from farm.redaction import Redactor
from worker.cell.ports import Exchange
from worker.session import Narrating, SessionProgress, StreamParser

_MOST_FAILURES = 1000
_NOTE_S = 1.0
"""A session's words may come by the hundred a second; nobody reads them faster than this."""


@dataclass(frozen=True, slots=True)
class _Failure:
    end: RequestEnd
    retry_after_s: float | None


@dataclass(frozen=True, slots=True)
class _Followed:
    session: str
    parser: Narrating | None
    """None: this agent says nothing before its end."""
    started_at: datetime


class Narration:
    """One attempt's. `tell` is called by the pulse's thread, all else by the line's and the gateway's."""

    def __init__(self, exchange: Exchange, lease: Lease, host: str, clock: Clock, redactor: Redactor) -> None:
        self._exchange = exchange
        self._lease = lease
        self._host = host
        self._clock = clock
        self._redactor = redactor
        self._pressed = deque[_Failure](maxlen=_MOST_FAILURES)
        self._followed: _Followed | None = None
        self._told: LiveNote | None = None
        self._told_at: float | None = None

    def follow(self, session: str, parser: StreamParser) -> None:
        """Tell of this session from now on."""
        narrating = parser if isinstance(parser, Narrating) else None
        self._followed = _Followed(session, narrating, self._clock.now())

    def note_pressure(self, end: RequestEnd, retry_after_s: float | None) -> None:
        """Take note that the provider did not answer a request; from any thread."""
        self._pressed.append(_Failure(end, retry_after_s))

    def tell(self) -> None:
        """Tell what is new. May raise TransientError; what was not told is told the next time."""
        self._tell_pressure()
        now = self._clock.monotonic()
        if self._followed is None or (self._told_at is not None and now - self._told_at < _NOTE_S):
            return
        note = self._note(self._followed)
        if note != self._told:
            self._exchange.live.tell(self._lease.sweep, note)
            self._told, self._told_at = note, now

    def close(self) -> None:
        """Say that the attempt runs no more. May raise TransientError."""
        if self._told is not None:
            self._exchange.live.drop(self._lease.sweep, self._lease.cell)

    def _tell_pressure(self) -> None:
        failures = [self._pressed.popleft() for _ in range(len(self._pressed))]
        if not failures:
            return
        waits = [one.retry_after_s for one in failures if one.retry_after_s is not None]
        pressure = Pressure(ends=Counter(one.end for one in failures), retry_after_s=waits[-1] if waits else None)
        event = CellEvent(
            kind=EventKind.PRESSURE, index=self._lease.index, attempt=self._lease.attempt, pressure=pressure
        )
        self._exchange.events.publish(self._lease.sweep, event)

    def _note(self, followed: _Followed) -> LiveNote:
        seen = SessionProgress() if followed.parser is None else followed.parser.progress()
        return LiveNote(
            cell=self._lease.cell,
            attempt=self._lease.attempt,
            host=self._host,
            session=followed.session,
            started_at=followed.started_at,
            turns=seen.turns,
            tool_calls=seen.tool_calls,
            preview=self._redactor.text(seen.last)[:MOST_PREVIEW],
        )
