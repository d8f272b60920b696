"""What an attempt tells while it runs."""

from dataclasses import dataclass, field

import pytest

from farm.adapters.memory import MemoryEvents, MemoryLeases, MemoryLiveNotes, MemorySignals
from farm.errors import TransientError
from farm.model import CellEvent, CellId, EventKind, Lease, LiveNote, Pressure, ProcessExit, RequestEnd, SessionReport
from farm.model.names import SweepId
from farm.redaction import MARK, Redactor
from farm.testing.clock import FakeClock
from sandbox.spec import Stream
from worker.cell.narration import Narration
from worker.cell.ports import Exchange
from worker.session import SessionProgress

SWEEP = SweepId("s-1.1")
LEASE = Lease(sweep=SWEEP, cell=CellId("t.a.1"), index=4, attempt=2, holder="host-1/1/1")
SECRET = "correct-horse-battery"  # noqa: S105 (of nobody)


@dataclass
class Silent:
    """A parser that says nothing before the end."""

    fed: list[bytes] = field(default_factory=list)

    def feed(self, stream: Stream, chunk: bytes) -> None:
        self.fed.append(chunk if stream is Stream.STDOUT else b"")

    def finish(self, exit_: ProcessExit) -> SessionReport:
        return SessionReport(name="work", exit=exit_, reason="success")


class Talkative(Silent):
    """A parser that says what it was told to."""

    seen = SessionProgress()

    def progress(self) -> SessionProgress:
        return self.seen


class Desk:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.events = MemoryEvents(self.clock)
        self.live = MemoryLiveNotes()
        signals = MemorySignals()
        exchange = Exchange(MemoryLeases(self.clock, signals), signals, self.events, self.live)
        self.narration = Narration(exchange, LEASE, "host-1", self.clock, Redactor([SECRET]))

    def note(self) -> LiveNote:
        (note,) = self.live.all(SWEEP)
        return note


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_how_far_a_session_is_is_told_when_it_has_changed_and_at_most_each_second(desk: Desk) -> None:
    parser = Talkative()
    desk.narration.tell()
    assert desk.live.all(SWEEP) == ()
    started_at = desk.clock.now()
    desk.narration.follow("work", parser)
    desk.narration.tell()
    first = LiveNote(cell=LEASE.cell, attempt=2, host="host-1", session="work", started_at=started_at)
    assert desk.note() == first
    parser.seen = SessionProgress(turns=2, tool_calls=3, last=f"the key is {SECRET}" + "x" * 1000)
    desk.narration.tell()
    assert desk.note() == first
    desk.clock.advance(1.0)
    desk.narration.tell()
    assert (desk.note().turns, desk.note().tool_calls) == (2, 3)
    assert desk.note().preview == f"the key is {MARK}xxx".ljust(200, "x")
    desk.narration.close()
    assert desk.live.all(SWEEP) == ()


def test_an_agent_that_tells_nothing_before_its_end_is_known_to_run(desk: Desk) -> None:
    desk.narration.follow("plan", Silent())
    desk.narration.tell()
    assert (desk.note().session, desk.note().turns, desk.note().tool_calls) == ("plan", None, None)


def test_what_a_provider_did_is_told_once(desk: Desk) -> None:
    desk.narration.note_pressure(RequestEnd.RATE_LIMITED, 7.0)
    desk.narration.note_pressure(RequestEnd.RATE_LIMITED, None)
    desk.narration.note_pressure(RequestEnd.UNAVAILABLE, None)
    desk.narration.tell()
    desk.narration.tell()
    pressure = Pressure(ends={RequestEnd.RATE_LIMITED: 2, RequestEnd.UNAVAILABLE: 1}, retry_after_s=7.0)
    assert desk.events.receive(SWEEP, 0) == (CellEvent(kind=EventKind.PRESSURE, index=4, attempt=2, pressure=pressure),)


def test_what_redis_did_not_take_is_told_the_next_time(desk: Desk) -> None:
    class Away(MemoryLiveNotes):
        def tell(self, sweep: SweepId, note: LiveNote) -> None:
            raise TransientError(f"no answer about {sweep} {note.cell}")

    signals = MemorySignals()
    exchange = Exchange(MemoryLeases(desk.clock, signals), signals, desk.events, Away())
    narration = Narration(exchange, LEASE, "host-1", desk.clock, Redactor())
    narration.follow("work", Talkative())
    for _ in range(2):
        with pytest.raises(TransientError):
            narration.tell()
    narration.close()
