"""Recording: what is written down when the store stumbles."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from farm.adapters.memory import MemoryEvents, MemoryLeases, MemoryLiveNotes, MemorySignals, MemoryStore
from farm.errors import SpecError, TransientError
from farm.model import (
    AttemptCleanup,
    Digest,
    Fault,
    FaultKind,
    Lease,
    Outcome,
    RetryPolicy,
    Settlement,
    SweepId,
    Ticket,
    canonical_json,
    parse_record,
)
from farm.model.keys import attempt_cleanup_key, outcome_key, result_key, settlement_key
from farm.redaction import MARK, Redactor
from farm.testing.clock import FakeClock
from tests.builders.worker.doubles import Hook, HookedRecords
from worker.cell.attempt import Attempt, Finding
from worker.cell.narration import Narration
from worker.cell.ports import Claimed, Exchange, Place, Timing, Truth
from worker.cell.pulse import Pulse
from worker.cell.recording import LineEnd, Recorder

SWEEP = SweepId("s-1.1")
TICKET = Ticket(sweep=SWEEP, plan=Digest.of(b""), cell="t.a.1", index=0, attempt=1)  # type: ignore[arg-type]  # a cell's id is text
SECRET = "correct-horse-battery"  # noqa: S105 (of nobody)
OUTCOME, RESULT = outcome_key(SWEEP, TICKET.cell, 1), result_key(SWEEP, TICKET.cell)
CLEANUP = attempt_cleanup_key(SWEEP, TICKET.cell, 1)
FOUND = Finding(RetryPolicy(), fault=Fault(kind=FaultKind.TASK, detail="it can't be set up"))
"""A finding that settles its cell."""


def raises_at(key: str, error: Exception, times: int = 1) -> Hook:
    """Make a hook that raises the first `times` times it meets `key`."""
    left = [error] * times

    def hook(met: str) -> None:
        if met == key and left:
            raise left.pop()

    return hook


class FullDisk:
    """A blob store that takes nothing."""

    def put(self, body: bytes) -> Digest:
        raise OSError(28, f"no space for {len(body)} bytes")

    def put_file(self, path: Path) -> Digest:
        raise OSError(28, f"no space for {path}")

    def get(self, digest: Digest) -> bytes:
        raise NotImplementedError(digest)

    def fetch(self, digest: Digest, path: Path) -> None:
        raise NotImplementedError(digest, path)


class Desk:
    """One claimed attempt with an artifact, and a recorder for it."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore()
        self.records = HookedRecords(self.store.records)
        self.truth = Truth(self.store.blobs, self.records)
        signals = MemorySignals()
        self.leases = MemoryLeases(self.clock, signals)
        self.leases.open_sweep(SWEEP)
        lease = self.leases.claim(TICKET, "host-1/1/1", 30.0)
        assert isinstance(lease, Lease)
        self.claimed = Claimed(TICKET, lease, self.clock.monotonic())
        exchange = Exchange(self.leases, signals, MemoryEvents(self.clock), MemoryLiveNotes())
        narration = Narration(exchange, lease, "host-1", self.clock, Redactor())
        self.pulse = Pulse(exchange, Timing(), self.clock, lease)
        self.attempt = Attempt(self.claimed, self.clock, self.clock.now(), narration)
        self.attempt.keeper.keep("note", "text/plain", b"kept")

    @property
    def recorder(self) -> Recorder:
        return Recorder(self.truth, self.clock, Place("host-1", 0, Path("/nowhere"), "host-1/1"), Redactor([SECRET]))

    def record(self, finding: Finding = FOUND) -> LineEnd:
        return self.recorder.record(self.attempt, finding, self.pulse)

    def outcome(self) -> Outcome | None:
        body = self.store.records.read(OUTCOME)
        return None if body is None else parse_record(Outcome, body, OUTCOME)

    def has_result(self) -> bool:
        return self.store.records.read(RESULT) is not None


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_an_outcome_that_settles_its_cell_is_followed_by_the_result(desk: Desk) -> None:
    assert desk.record() is LineEnd.RECORDED
    outcome = desk.outcome()
    assert outcome is not None
    assert [one.role for one in outcome.artifacts] == ["note"]
    assert desk.has_result()


@pytest.mark.parametrize("key", [OUTCOME, RESULT])
def test_an_answer_that_was_lost_on_its_way_does_not_make_our_record_somebody_elses(desk: Desk, key: str) -> None:
    desk.records.after = raises_at(key, TransientError("no answer"))
    assert desk.record() is LineEnd.RECORDED
    assert desk.has_result()


def test_no_secret_is_recorded_in_artifact_or_outcome_and_what_was_changed_says_so(desk: Desk) -> None:
    desk.attempt.keeper.keep("log", "text/plain", f"the key is {SECRET}".encode())
    fault = Fault(kind=FaultKind.TASK, detail=f"no answer from https://x/?key={SECRET}")
    assert desk.record(Finding(RetryPolicy(), fault=fault)) is LineEnd.RECORDED
    outcome = desk.outcome()
    assert outcome is not None
    assert outcome.fault == Fault(kind=FaultKind.TASK, detail=f"no answer from https://x/?key={MARK}")
    kept = {one.role: (one.redacted, desk.store.blobs.get(one.digest)) for one in outcome.artifacts}
    assert kept == {"log": (True, f"the key is {MARK}".encode()), "note": (False, b"kept")}
    desk.recorder.record_cleanup(desk.claimed, f"{SECRET} could not be removed", desk.pulse)
    assert SECRET not in repr(desk.store.records.read(CLEANUP))


def test_an_outcome_that_somebody_else_wrote_stays(desk: Desk) -> None:
    desk.store.records.create(OUTCOME, b"theirs")
    assert desk.record() is LineEnd.LOST
    assert desk.store.records.read(OUTCOME) == b"theirs"
    assert not desk.has_result()


def test_a_settlement_between_outcome_and_result_leaves_the_cell_without_a_result(desk: Desk) -> None:
    settlement = Settlement(
        sweep=SWEEP,
        plan=TICKET.plan,
        close=Digest.of(b""),
        cells=(),
        workers_settled=False,
        settled_at=datetime(2026, 1, 1, tzinfo=UTC),
    )

    def settle(key: str) -> None:
        if key == OUTCOME:
            desk.store.records.create(settlement_key(SWEEP), canonical_json(settlement))

    desk.records.after = settle
    assert desk.record() is LineEnd.LATE
    assert not desk.has_result()


@pytest.mark.parametrize("finding", [Finding(RetryPolicy()), FOUND])
def test_artifacts_that_can_not_be_kept_are_the_hosts_fault_unless_there_was_one(desk: Desk, finding: Finding) -> None:
    desk.truth = Truth(FullDisk(), desk.records)
    assert desk.record(finding) is LineEnd.RECORDED
    outcome = desk.outcome()
    assert outcome is not None
    assert outcome.artifacts == ()
    assert [one.stage for one in outcome.stages] == ["upload"]
    assert outcome.fault is not None
    if finding.fault is None:
        assert (outcome.fault.kind, outcome.fault.detail) == (
            FaultKind.HOST,
            "the attempt could not be recorded: [Errno 28] no space for 4 bytes",
        )
    else:
        assert outcome.fault == finding.fault


@pytest.mark.parametrize("error", [SpecError("the bucket is gone"), OSError(24, "too many open files")])
def test_a_store_that_takes_no_record_leaves_nothing_and_raises_nothing(desk: Desk, error: Exception) -> None:
    desk.records.before = raises_at(OUTCOME, error, times=9)
    assert desk.record() is LineEnd.LOST
    assert desk.outcome() is None


def test_a_result_that_is_refused_is_left_to_the_coordinator(desk: Desk) -> None:
    desk.records.before = raises_at(RESULT, SpecError("the bucket is gone"))
    assert desk.record() is LineEnd.RECORDED
    assert desk.outcome() is not None
    assert not desk.has_result()


def test_a_lease_that_ends_between_outcome_and_result_keeps_the_outcome(desk: Desk) -> None:
    def expire(key: str) -> None:
        if key == OUTCOME:
            desk.clock.advance(31.0)

    desk.records.after = expire
    assert desk.record() is LineEnd.RECORDED
    assert desk.outcome() is not None
    assert not desk.has_result()


def test_a_store_that_is_away_until_the_lease_ends_leaves_nothing(desk: Desk) -> None:
    desk.records.before = raises_at(OUTCOME, TransientError("no answer"), times=99)
    assert desk.record() is LineEnd.LOST
    assert desk.outcome() is None


def test_a_clean_up_is_told_again_to_a_store_that_did_not_answer(desk: Desk) -> None:
    desk.records.before = raises_at(CLEANUP, TransientError("no answer"), times=2)
    desk.recorder.record_cleanup(desk.claimed, None, desk.pulse)
    body = desk.store.records.read(CLEANUP)
    assert body is not None
    assert parse_record(AttemptCleanup, body, CLEANUP).done


@pytest.mark.parametrize(
    ("error", "times"), [(TransientError("no answer"), 99), (SpecError("the bucket is gone"), 1), (OSError("full"), 1)]
)
def test_a_clean_up_that_can_not_be_told_is_not_told(desk: Desk, error: Exception, times: int) -> None:
    desk.records.before = raises_at(CLEANUP, error, times)
    desk.recorder.record_cleanup(desk.claimed, None, desk.pulse)
    assert desk.store.records.read(CLEANUP) is None
