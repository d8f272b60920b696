"""Upload, then record: blobs first, the fence, outcome.json, the result if this settles the cell."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from farm.errors import IntegrityError, TransientError
from farm.model import AttemptCleanup, Digest, Outcome, StopReason, canonical_json
from farm.model.keys import attempt_cleanup_key, outcome_key, result_key, settlement_key
from farm.model.settle import result_of, settles
from farm.ports import Clock
from worker.cell.attempt import Attempt, Finding
from worker.cell.ports import Claimed, Place, Truth
from worker.cell.pulse import Pulse
from worker.cell.stops import StoppedError

T = TypeVar("T")

_FIRST_WAIT_S = 0.2
_MOST_WAIT_S = 5.0


class LineEnd(StrEnum):
    """How a run of the line ended."""

    REFUSED = "refused"
    """Not ours to do; nothing was written."""
    RECORDED = "recorded"
    LATE = "late"
    """Recorded after the sweep had settled: kept, never counted."""
    LOST = "lost"
    """The right was lost on the way; nothing was written."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """Writes attempts down. A service that does not answer is asked again for as long as the lease lives."""

    truth: Truth
    clock: Clock
    place: Place

    def record(self, attempt: Attempt, finding: Finding, pulse: Pulse) -> LineEnd:
        """Upload and record; LOST when the right to do so was lost before outcome.json was written."""
        try:
            with attempt.stage("upload"):
                self._upload(attempt, pulse)
            if not self._patiently(pulse, pulse.confirm):
                return LineEnd.LOST
            return self._patiently(pulse, lambda: self._write(attempt, finding))
        except StoppedError:
            return LineEnd.LOST

    def record_cleanup(self, claimed: Claimed, problem: str | None) -> None:
        """Say whether the workspace was removed. May raise TransientError: then nobody says so, which shows."""
        ticket = claimed.ticket
        record = AttemptCleanup(cell=ticket.cell, attempt=ticket.attempt, done=problem is None, problem=problem)
        key = attempt_cleanup_key(ticket.sweep, ticket.cell, ticket.attempt)
        self.truth.records.create(key, canonical_json(record))

    def _upload(self, attempt: Attempt, pulse: Pulse) -> None:
        for kept in attempt.keeper.kept:
            digest = self._patiently(pulse, functools.partial(self.truth.blobs.put, kept.body))
            if digest != kept.artifact.digest:
                raise IntegrityError(f"the store took {kept.artifact.role} as {digest}, not {kept.artifact.digest}")

    def _write(self, attempt: Attempt, finding: Finding) -> LineEnd:
        ticket, records = attempt.claimed.ticket, self.truth.records
        is_late = records.read(settlement_key(ticket.sweep)) is not None
        outcome = self._outcome(attempt, finding, is_late=is_late)
        body = canonical_json(outcome)
        if not records.create(outcome_key(ticket.sweep, ticket.cell, ticket.attempt), body):
            return LineEnd.LOST  # the attempt has an outcome that is not ours: the first writer wins
        if is_late:
            return LineEnd.LATE
        if settles(outcome, finding.retry):
            records.create(result_key(ticket.sweep, ticket.cell), canonical_json(result_of(outcome, Digest.of(body))))
        return LineEnd.RECORDED

    def _outcome(self, attempt: Attempt, finding: Finding, *, is_late: bool) -> Outcome:
        ticket = attempt.claimed.ticket
        return Outcome(
            sweep=ticket.sweep,
            plan=ticket.plan,
            cell=ticket.cell,
            attempt=ticket.attempt,
            host=self.place.host,
            holder=attempt.claimed.lease.holder,
            started_at=attempt.started_at,
            ended_at=self.clock.now(),
            evidence=finding.evidence,
            fault=finding.fault,
            artifacts=tuple(kept.artifact for kept in attempt.keeper.kept),
            stages=tuple(attempt.stages),
            late=is_late,
        )

    def _patiently(self, pulse: Pulse, ask: Callable[[], T]) -> T:
        """Ask again after a TransientError, with longer and longer waits; raise StoppedError once the lease is lost."""
        wait_s = _FIRST_WAIT_S
        while True:
            if pulse.stop is StopReason.LOST_LEASE:
                raise StoppedError(StopReason.LOST_LEASE)
            try:
                return ask()
            except TransientError:
                self.clock.sleep(wait_s)
                wait_s = min(2 * wait_s, _MOST_WAIT_S)
