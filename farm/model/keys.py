"""Where blobs and records stand in the store: the layout of section 4 of the architecture, in one file."""

import re
from dataclasses import dataclass
from enum import StrEnum

from farm.model.digest import Digest
from farm.model.evolution import EvolutionId, Step
from farm.model.names import CellId, SweepId

BLOBS = "blobs/"
SWEEPS = "sweeps/"
EVOLUTIONS = "evolutions/"


def blob_key(digest: Digest) -> str:
    return f"{BLOBS}sha256/{digest[:2]}/{digest}"


def derived_key(lock: Digest) -> str:
    return f"derived/{lock}.json"


def sweep_root(sweep: SweepId) -> str:
    return f"{SWEEPS}{sweep}/"


def plan_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}plan.json"


def open_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}open.json"


class AttemptFile(StrEnum):
    """The records of an attempt."""

    CLAIM = "claim"
    OUTCOME = "outcome"
    CLEANUP = "cleanup"


@dataclass(frozen=True, slots=True)
class AttemptPlace:
    """Which record of which attempt."""

    cell: CellId
    attempt: int
    file: AttemptFile


def claim_key(sweep: SweepId, cell: CellId, attempt: int) -> str:
    return _attempt_key(sweep, AttemptPlace(cell, attempt, AttemptFile.CLAIM))


def outcome_key(sweep: SweepId, cell: CellId, attempt: int) -> str:
    return _attempt_key(sweep, AttemptPlace(cell, attempt, AttemptFile.OUTCOME))


def attempt_cleanup_key(sweep: SweepId, cell: CellId, attempt: int) -> str:
    return _attempt_key(sweep, AttemptPlace(cell, attempt, AttemptFile.CLEANUP))


def _attempt_key(sweep: SweepId, place: AttemptPlace) -> str:
    return f"{attempts_prefix(sweep)}{place.cell}/{place.attempt}/{place.file}.json"


_ATTEMPT = re.compile(r"attempts/([^/]+)/([1-9][0-9]{0,8})/(claim|outcome|cleanup)\.json")


def attempt_place(key: str) -> AttemptPlace | None:
    """Say of which attempt's record `key` is the key below the sweep's folder; None: of none."""
    found = _ATTEMPT.fullmatch(key)
    return None if found is None else AttemptPlace(CellId(found[1]), int(found[2]), AttemptFile(found[3]))


def attempts_prefix(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}attempts/"


def result_key(sweep: SweepId, cell: CellId) -> str:
    return f"{sweep_root(sweep)}results/{cell}.json"


def results_prefix(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}results/"


def checkpoints_prefix(sweep: SweepId, part: int) -> str:
    return f"{sweep_root(sweep)}checkpoints/{part}/"


def checkpoint_key(sweep: SweepId, part: int, done: int) -> str:
    """Name a part's checkpoint after its count, so that the last is the newest; part 0 is the whole sweep."""
    return f"{checkpoints_prefix(sweep, part)}{done:09}.json"


def close_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}close.json"


def shards_prefix(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}shards/"


def shard_open_key(sweep: SweepId, number: int) -> str:
    return f"{shards_prefix(sweep)}{number}/open.json"


def shard_close_key(sweep: SweepId, number: int) -> str:
    return f"{shards_prefix(sweep)}{number}/close.json"


def cancel_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}cancel.json"


def settlement_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}settlement.json"


def cleanup_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}cleanup.json"


def verdict_key(sweep: SweepId, gate: str) -> str:
    return f"{sweep_root(sweep)}verdicts/{gate}.json"


REPORT_PAGE = "report.html"
REPORT_DATA = "report.json"
REPORT_TEXT = "report.md"
REPORT_FILES = (REPORT_PAGE, REPORT_DATA, REPORT_TEXT)


def report_key(sweep: SweepId, file: str) -> str:
    return f"{sweep_root(sweep)}report/{file}"


def seal_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}seal.json"


def attestations_prefix(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}attestations/"


def attestation_key(sweep: SweepId, keyid: str) -> str:
    """Give the place of the attestation by the key of that id."""
    return f"{attestations_prefix(sweep)}{keyid}.json"


def evolution_root(evolution: EvolutionId) -> str:
    return f"{EVOLUTIONS}{evolution}/"


def evolution_open_key(evolution: EvolutionId) -> str:
    return f"{evolution_root(evolution)}open.json"


def evolution_step_key(evolution: EvolutionId, generation: int, step: Step) -> str:
    return f"{evolution_root(evolution)}{generation}/{step}.json"


def evolution_end_key(evolution: EvolutionId) -> str:
    return f"{evolution_root(evolution)}end.json"
