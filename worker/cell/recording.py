"""Upload, then record: blobs first, the fence, outcome.json, the result if this settles the cell."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

import structlog

from farm.errors import FarmError, IntegrityError, TransientError
from farm.model import AttemptCleanup, Digest, Outcome, StopReason, SweepId, Ticket, canonical_json, parse_record
from farm.model.keys import attempt_cleanup_key, outcome_key, result_key, settlement_key
from farm.model.settle import result_of, settles
from farm.ports import Clock
from farm.redaction import Redactor
from worker.cell.attempt import Attempt, Finding
from worker.cell.faults import unrecorded
from worker.cell.ports import Claimed, Place, Truth
from worker.cell.pulse import Pulse
from worker.cell.stops import StoppedError
from worker.collect.keeper import Keeper

_log = structlog.get_logger()

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
    """The right was lost on the way, or the store takes nothing; nothing was written."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """Writes attempts down. A service that does not answer is asked again for as long as the lease lives.

    All that leaves the worker for the store goes by here, and by the redactor.
    """

    truth: Truth
    clock: Clock
    place: Place
    redactor: Redactor

    def record(self, attempt: Attempt, finding: Finding, pulse: Pulse) -> LineEnd:
        """Upload and record; what can't be recorded as it is becomes a fault without artifacts.

        LOST when the right was lost before outcome.json was written, or when the store refuses the fault too.
        """
        clean = replace(attempt, keeper=attempt.keeper.redacted(self.redactor))
        try:
            with clean.stage("upload"):
                self._upload(clean, pulse)
            return self._write(clean, finding, pulse)
        except StoppedError:
            return LineEnd.LOST
        except (FarmError, OSError) as error:
            _log.warning("record.refused", problem=str(error))
            fault = finding.fault or unrecorded(error)
        try:
            return self._write(replace(attempt, keeper=Keeper()), Finding(finding.retry, fault=fault), pulse)
        except (StoppedError, FarmError, OSError) as error:
            _log.warning("attempt.unrecorded", problem=str(error))
            return LineEnd.LOST

    def record_cleanup(self, claimed: Claimed, problem: str | None, pulse: Pulse) -> None:
        """Say whether the workspace was removed; when that can't be written, nobody says so, which shows."""
        ticket = claimed.ticket
        record = AttemptCleanup(
            cell=ticket.cell,
            attempt=ticket.attempt,
            done=problem is None,
            problem=None if problem is None else self.redactor.text(problem),
        )
        key, body = attempt_cleanup_key(ticket.sweep, ticket.cell, ticket.attempt), canonical_json(record)
        try:
            self._patiently(pulse, lambda: self.truth.records.create(key, body))
        except (StoppedError, FarmError, OSError) as error:
            _log.warning("cleanup.unrecorded", problem=str(error))

    def _upload(self, attempt: Attempt, pulse: Pulse) -> None:
        for kept in attempt.keeper.kept:
            digest = self._patiently(pulse, functools.partial(self.truth.blobs.put, kept.body))
            if digest != kept.artifact.digest:
                raise IntegrityError(f"the store took {kept.artifact.role} as {digest}, not {kept.artifact.digest}")

    def _write(self, attempt: Attempt, finding: Finding, pulse: Pulse) -> LineEnd:
        ticket = attempt.claimed.ticket
        if not self._patiently(pulse, pulse.confirm):
            return LineEnd.LOST
        is_late = self._patiently(pulse, lambda: self._is_settled(ticket.sweep))
        outcome = self._redacted(self._outcome(attempt, finding, is_late=is_late))
        body = canonical_json(outcome)  # once: with another time in it, it would not be known as ours when asked again
        if not self._patiently(pulse, lambda: self._create_ours(ticket, body)):
            return LineEnd.LOST  # the attempt has an outcome that is not ours: the first writer wins
        if is_late:
            return LineEnd.LATE
        return self._settle(outcome, Digest.of(body), pulse) if settles(outcome, finding.retry) else LineEnd.RECORDED

    def _create_ours(self, ticket: Ticket, body: bytes) -> bool:
        """Create outcome.json; an earlier try whose answer was lost has created it too."""
        key = outcome_key(ticket.sweep, ticket.cell, ticket.attempt)
        return self.truth.records.create(key, body) or self.truth.records.read(key) == body

    def _settle(self, outcome: Outcome, digest: Digest, pulse: Pulse) -> LineEnd:
        """Write the result, unless the sweep has settled since; one that can't be written the coordinator writes."""
        key, body = result_key(outcome.sweep, outcome.cell), canonical_json(result_of(outcome, digest))
        try:
            if self._patiently(pulse, lambda: self._is_settled(outcome.sweep)):
                return LineEnd.LATE
            self._patiently(pulse, lambda: self.truth.records.create(key, body))
        except (StoppedError, FarmError, OSError) as error:
            _log.warning("result.unrecorded", problem=str(error))
        return LineEnd.RECORDED

    def _is_settled(self, sweep: SweepId) -> bool:
        return self.truth.records.read(settlement_key(sweep)) is not None

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
            doors=attempt.known_doors() if finding.evidence is None else None,
            late=is_late,
        )

    def _redacted(self, outcome: Outcome) -> Outcome:
        plain = canonical_json(outcome)
        clean = self.redactor.body(plain)  # of the whole text: many times as fast as value by value
        return outcome if clean == plain else parse_record(Outcome, clean, "a redacted outcome")

    def _patiently(self, pulse: Pulse, ask: Callable[[], T]) -> T:
        """Ask again after a TransientError, with longer and longer waits; raise StoppedError once the lease is lost."""
        wait_s = _FIRST_WAIT_S
        while True:
            if pulse.stop_reason() is StopReason.LOST_LEASE:
                raise StoppedError(StopReason.LOST_LEASE)
            try:
                return ask()
            except TransientError:
                self.clock.sleep(wait_s)
                wait_s = min(2 * wait_s, _MOST_WAIT_S)
