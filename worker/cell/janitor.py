"""The last look at what dead workers left: whatever their sessions had said becomes artifacts of their attempts.

It decides nothing: whether an attempt is lost is the coordinator's to say. What it finds is named in the attempt's
clean-up record, which its own worker did not come to write.
"""

import functools
import os
from dataclasses import dataclass
from pathlib import Path

import structlog

from farm.errors import FarmError, IntegrityError, TransientError
from farm.model import Artifact, AttemptCleanup, Claim, Lease, Outcome, canonical_json, parse_record
from farm.model.keys import attempt_cleanup_key, claim_key, outcome_key
from farm.ports import Clock
from farm.redaction import Redactor
from worker.cell.ports import Truth
from worker.collect.keeper import Keeper
from worker.collect.streams import keep_left_streams
from worker.staging.ground import NOTE, Told
from worker.trees.opening import Beneath

_log = structlog.get_logger()

_MOST_NOTE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Janitor:
    """Looks until `until_s` on its clock; what is left then is for the next worker."""

    truth: Truth
    redactor: Redactor
    clock: Clock
    until_s: float

    def look(self, folder: Path) -> Told:
        """Upload what the sessions of a dead worker's cell had said; give what records it once all is removed.

        Nothing is uploaded for a folder that is no cell's, or of a cell that this store does not know. Raises FarmError
        and OSError: then it can be looked at again.
        """
        lease = _lease_of(folder)
        if lease is None or not self._is_known(lease):
            return _tell_nobody
        if self.clock.monotonic() >= self.until_s:
            raise TransientError("there was no time left to upload what a dead worker's sessions had said")
        keeper = Keeper()
        keep_left_streams(folder, keeper)
        artifacts = self._uploaded(keeper.redacted(self.redactor), self._recorded_roles(lease))
        return functools.partial(self._tell, lease, artifacts)

    def _is_known(self, lease: Lease) -> bool:
        key = claim_key(lease.sweep, lease.cell, lease.attempt)
        body = self.truth.records.read(key)
        return body is not None and parse_record(Claim, body, key).holder == lease.holder

    def _recorded_roles(self, lease: Lease) -> frozenset[str]:
        """Name what the attempt's outcome holds already: its worker died after it was recorded."""
        key = outcome_key(lease.sweep, lease.cell, lease.attempt)
        body = self.truth.records.read(key)
        kept = () if body is None else parse_record(Outcome, body, key).artifacts
        return frozenset(artifact.role for artifact in kept)

    def _uploaded(self, keeper: Keeper, recorded: frozenset[str]) -> tuple[Artifact, ...]:
        left = [kept for kept in keeper.kept if kept.artifact.role not in recorded]
        for kept in left:
            self.truth.blobs.put(kept.body)
        return tuple(kept.artifact for kept in left)

    def _tell(self, lease: Lease, artifacts: tuple[Artifact, ...], problem: str | None) -> None:
        record = AttemptCleanup(
            cell=lease.cell, attempt=lease.attempt, done=problem is None, problem=problem, artifacts=artifacts
        )
        key = attempt_cleanup_key(lease.sweep, lease.cell, lease.attempt)
        try:
            is_new = self.truth.records.create(key, canonical_json(record))
        except FarmError as error:
            _log.warning("cleanup.unrecorded", sweep=lease.sweep, cell=lease.cell, problem=str(error))
        else:
            _log.info("leftovers.cleared", sweep=lease.sweep, cell=lease.cell, attempt=lease.attempt, recorded=is_new)


def _tell_nobody(_problem: str | None) -> None:
    pass


def _lease_of(folder: Path) -> Lease | None:
    """Read whose folder it is; None for one without a whole note: nobody had begun a session there."""
    try:
        with Beneath(folder) as left, os.fdopen(left.file(NOTE), "rb") as note:
            body = note.read(_MOST_NOTE_BYTES)
        return parse_record(Lease, body, str(folder / NOTE))
    except (NotADirectoryError, FileNotFoundError, IntegrityError):
        return None
