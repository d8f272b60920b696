"""From settled records to the table: the one way in which a cell becomes a row, for whoever judges or verifies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from farm.gates.table import Lifecycle, Row, Spent, Table
from farm.model import (
    AttemptCleanup,
    Cell,
    CellId,
    CleanupRecord,
    Close,
    Evidence,
    Outcome,
    Plan,
    SettledCell,
    Settlement,
    known_sum,
)
from farm.model.keys import AttemptFile

NOBODY_SAID = "nobody said that the workspace was removed"
NOT_SETTLED = "workers had not settled when the grace was over"


@dataclass(frozen=True, slots=True)
class SettledRecords:
    """The records of one settled sweep, verified by whoever read them."""

    plan: Plan
    close: Close
    settlement: Settlement
    cleanup: CleanupRecord
    outcomes: Mapping[CellId, Outcome] = field(default_factory=dict)
    """The outcome that each result names."""
    cleanups: Mapping[CellId, AttemptCleanup] = field(default_factory=dict)
    """What the worker said of the cleaning after the counted attempt, or after the last one when none counts."""
    attempts: Mapping[CellId, Sequence[Outcome]] = field(default_factory=dict)
    """Every outcome that was settled, whether or not it counts, in order of attempt."""


def tabulate(records: SettledRecords) -> Table:
    """Make the table: one row for every planned cell, in plan order. Pure in the records."""
    settled = zip(records.plan.cells, records.settlement.cells, strict=True)
    rows = tuple(_row(cell, settled_cell, records) for cell, settled_cell in settled)
    late = () if records.settlement.workers_settled else (NOT_SETTLED,)
    return Table(
        plan=records.plan,
        lifecycle=Lifecycle(
            close=records.close.reason,
            cleanup_incomplete=not records.cleanup.complete or any(row.cleanup_problem is not None for row in rows),
            errors=(*late, *records.cleanup.problems),
        ),
        rows=rows,
    )


def _row(cell: Cell, settled: SettledCell, records: SettledRecords) -> Row:
    outcome = records.outcomes.get(cell.id)
    attempts = sum(place.file is AttemptFile.CLAIM for place in settled.places)
    row = Row(
        cell=cell.id,
        task=cell.task,
        arm=cell.arm,
        role=records.plan.arm_by_name[cell.arm].role,
        trial=cell.trial,
        fault=None if outcome is None else outcome.fault,
        unsettled=settled.unsettled,
        attempts=attempts,
        spent=_spent(records.attempts.get(cell.id, ()), attempts),
        cleanup_problem=_problem(records.cleanups.get(cell.id)) if attempts else None,
    )
    return row if outcome is None or outcome.evidence is None else _with_evidence(row, outcome, outcome.evidence)


def _spent(outcomes: Sequence[Outcome], claims: int) -> Spent:
    """Add up the attempts; one that was claimed and left no outcome is unknown."""
    silent = [None] * (claims - len(outcomes))
    usd, tokens = [one.cost_usd for one in outcomes], [one.tokens for one in outcomes]
    return Spent(
        usd=known_sum([*usd, *silent]) if claims else Decimal(0),
        tokens=known_sum([*tokens, *silent]) if claims else 0,
        known_usd=sum((one for one in usd if one is not None), Decimal(0)),
        known_tokens=sum(one for one in tokens if one is not None),
    )


def _with_evidence(row: Row, outcome: Outcome, evidence: Evidence) -> Row:
    return row.model_copy(
        update={
            "reused": outcome.origin is not None,
            "sessions": evidence.sessions,
            "verify": evidence.verify,
            "oracle": evidence.oracle,
            "scope": evidence.scope,
            "churn": evidence.churn,
            "metrics": {measured.name: measured for measured in evidence.metrics},
            "cost_usd": evidence.cost_usd,
            "duration_s": evidence.duration_s,
            "governed": evidence.governed,
        }
    )


def _problem(cleanup: AttemptCleanup | None) -> str | None:
    if cleanup is None:
        return NOBODY_SAID
    return None if cleanup.done else cleanup.problem or NOBODY_SAID
