"""From settled records to the table: the one way in which a cell becomes a row, for whoever judges or verifies."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from farm.gates.table import Lifecycle, Row, Table
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
        cleanup_problem=_problem(records.cleanups.get(cell.id)) if attempts else None,
    )
    return row if outcome is None or outcome.evidence is None else _with_evidence(row, outcome, outcome.evidence)


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
        }
    )


def _problem(cleanup: AttemptCleanup | None) -> str | None:
    if cleanup is None:
        return NOBODY_SAID
    return None if cleanup.done else cleanup.problem or NOBODY_SAID
