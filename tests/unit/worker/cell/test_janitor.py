"""The last look at what a dead worker left: nothing that its sessions had said is lost, and nothing is decided."""

from pathlib import Path

import pytest

from farm.adapters.memory import MemoryStore
from farm.errors import TransientError
from farm.model import (
    Artifact,
    AttemptCleanup,
    Claim,
    Digest,
    Fault,
    FaultKind,
    Lease,
    Outcome,
    SweepId,
    canonical_json,
    parse_record,
)
from farm.model.keys import attempt_cleanup_key, claim_key, outcome_key
from farm.redaction import MARK, Redactor
from farm.testing.clock import FakeClock
from tests.builders.worker.doubles import SilentStore
from worker.cell.janitor import Janitor
from worker.cell.ports import Truth
from worker.staging.ground import NOTE

SECRET = "correct-horse-battery"  # noqa: S105 (of nobody)
LEASE = Lease(sweep=SweepId("s-1.1"), cell="t.a.1", index=0, attempt=2, holder="host-1/7/1")  # type: ignore[arg-type]  # a cell's id is text
CLEANUP = attempt_cleanup_key(LEASE.sweep, LEASE.cell, 2)


class Place:
    """A store that knows the claim, and the folder of its cell as a killed worker leaves it."""

    def __init__(self, folder: Path) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore()
        self.folder = folder
        (folder / NOTE).write_bytes(canonical_json(LEASE))
        (folder / "work.stdout").write_bytes(b'{"type": "init"}\n{"ty')
        claim = Claim(
            sweep=LEASE.sweep,
            cell=LEASE.cell,
            attempt=2,
            holder=LEASE.holder,
            host="host-1",
            claimed_at=self.clock.now(),
        )
        self.store.records.create(claim_key(LEASE.sweep, LEASE.cell, 2), canonical_json(claim))

    def janitor(self, limit_s: float = 30.0) -> Janitor:
        until_s = self.clock.monotonic() + limit_s
        return Janitor(Truth(self.store.blobs, self.store.records), Redactor([SECRET]), self.clock, until_s)

    def cleanup(self) -> AttemptCleanup | None:
        body = self.store.records.read(CLEANUP)
        return None if body is None else parse_record(AttemptCleanup, body, CLEANUP)


def an_outcome(place: Place) -> Outcome:
    """What the worker had recorded before it died at its clean-up."""
    events = Artifact(role="session.work.events", media_type="text/plain", digest=Digest.of(b""), size_bytes=0)
    return Outcome(
        sweep=LEASE.sweep,
        plan=Digest.of(b""),
        cell=LEASE.cell,
        attempt=2,
        host="host-1",
        holder=LEASE.holder,
        started_at=place.clock.now(),
        ended_at=place.clock.now(),
        fault=Fault(kind=FaultKind.TASK, detail="it can't be set up"),
        artifacts=(events,),
    )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_what_the_sessions_had_said_is_in_the_store_before_anything_is_removed(place: Place) -> None:
    tell = place.janitor().look(place.folder)
    said = b'{"type": "init"}\n{"ty'
    assert place.store.blobs.get(Digest.of(said)) == said
    assert place.cleanup() is None
    tell(None)
    events = Artifact(
        role="session.work.events",
        media_type="application/octet-stream",
        digest=Digest.of(said),
        size_bytes=len(said),
    )
    assert place.cleanup() == AttemptCleanup(cell=LEASE.cell, attempt=2, done=True, artifacts=(events,))


def test_what_a_governor_noted_outlives_its_worker(place: Place) -> None:
    (place.folder / "governor.jsonl").write_bytes(b'{"kind": "attempt"}\n')
    place.janitor().look(place.folder)(None)
    cleanup = place.cleanup()
    assert cleanup is not None
    (noted,) = [one for one in cleanup.artifacts if one.role == "governor.jsonl"]
    assert place.store.blobs.get(noted.digest) == b'{"kind": "attempt"}\n'


def test_a_folder_that_stays_is_told_so(place: Place) -> None:
    place.janitor().look(place.folder)("it is still there")
    cleanup = place.cleanup()
    assert cleanup is not None
    assert (cleanup.done, cleanup.problem) == (False, "it is still there")


def test_no_secret_is_uploaded(place: Place) -> None:
    (place.folder / "work.stderr").write_text(f"the key is {SECRET}\n")
    place.janitor().look(place.folder)(None)
    cleanup = place.cleanup()
    assert cleanup is not None
    (stderr,) = [one for one in cleanup.artifacts if one.role == "session.work.stderr"]
    assert stderr.redacted
    assert place.store.blobs.get(stderr.digest) == f"the key is {MARK}\n".encode()


def test_what_the_outcome_holds_already_is_not_told_twice(place: Place) -> None:
    place.store.records.create(outcome_key(LEASE.sweep, LEASE.cell, 2), canonical_json(an_outcome(place)))
    place.janitor().look(place.folder)(None)
    cleanup = place.cleanup()
    assert cleanup is not None
    assert (cleanup.done, cleanup.artifacts) == (True, ())


def test_a_cell_of_another_store_or_claimed_by_another_is_nobodys(place: Place) -> None:
    (place.folder / NOTE).write_bytes(canonical_json(LEASE.model_copy(update={"holder": "host-1/8/1"})))
    place.janitor().look(place.folder)(None)
    (place.folder / NOTE).write_bytes(canonical_json(LEASE.model_copy(update={"attempt": 3})))
    place.janitor().look(place.folder)(None)
    assert place.cleanup() is None
    assert len(list(place.store.records.keys(""))) == 1


@pytest.mark.parametrize("note", [b"", b'{"sweep"', b"[]"])
def test_a_note_that_was_not_written_to_its_end_is_nobodys(place: Place, note: bytes) -> None:
    (place.folder / NOTE).write_bytes(note)
    place.janitor().look(place.folder)(None)
    assert place.cleanup() is None


def test_what_is_no_cells_folder_is_nobodys(place: Place) -> None:
    draft = place.folder / "draft"
    draft.mkdir()
    place.janitor().look(draft)(None)
    place.janitor().look(place.folder / "work.stdout")(None)
    assert place.cleanup() is None


def test_a_store_that_is_away_or_too_slow_leaves_it_to_the_next(place: Place) -> None:
    janitor = place.janitor(limit_s=5.0)
    away = Janitor(
        Truth(SilentStore(place.store.blobs, failures=1), place.store.records), Redactor(), place.clock, janitor.until_s
    )
    with pytest.raises(TransientError):
        away.look(place.folder)
    place.clock.advance(5.0)
    with pytest.raises(TransientError, match="no time left"):
        janitor.look(place.folder)
    assert place.cleanup() is None
