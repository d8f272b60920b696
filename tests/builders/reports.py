"""A settled sweep for tests of reports: two tasks, two arms, a lost attempt, a fault, a hostile answer."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from farm.gates.overlay import OverlayGate
from farm.gates.protocol import Basis
from farm.gates.table import Row, Table
from farm.model import (
    Artifact,
    CellId,
    CleanupRecord,
    Close,
    CloseReason,
    Digest,
    Evidence,
    Fault,
    FaultKind,
    Measured,
    Opening,
    OracleFinding,
    Outcome,
    Pin,
    Plan,
    ScopeFinding,
    Sealed,
    SettledCell,
    Settlement,
    Unsettled,
    Usage,
    Verdict,
    canonical_json,
    sweep_id,
)
from farm.reporting.report_input import ReportInput
from tests.builders.gates import BASH_CALLS, ENDED_WELL, OFF, ON, At, a_digest, a_plan, a_row, a_session, a_table

OPENED = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script> \x1b[31mred\x1b[0m | a\n| b\u202e [x](javascript:1) `c`"
FACTS = {"backend": "bubblewrap", "bwrap": "0.8.0", "kernel": "6.1.0", "memory": "cgroup", "network": "none"}


def an_outcome(plan: Plan, row: Row, attempt: int, **changes) -> Outcome:
    """Record an attempt of `row`, with its evidence unless a fault is given."""
    sweep = sweep_id(plan.name, plan.digest, 1)
    started = OPENED + timedelta(seconds=10 * attempt)
    evidence = Evidence(
        lock=a_digest("lock"),
        sandbox=FACTS,
        workspace_before=a_digest("before"),
        workspace_after=a_digest(row.cell),
        sessions=row.sessions or (a_session(),),
        oracle=row.oracle or OracleFinding(correct=True),
        scope=row.scope or ScopeFinding(),
        metrics=tuple(row.metrics.values()),
    )
    artifacts = (
        Artifact(
            role="session.work.events", media_type="application/jsonl", digest=a_digest("events"), size_bytes=48_213
        ),
        Artifact(role="patch", media_type="text/x-diff", digest=a_digest(row.cell + "patch"), size_bytes=812),
        Artifact(
            role="oracle.stdout", media_type="text/plain", digest=a_digest("stdout"), size_bytes=77, truncated=True
        ),
    )
    fields = {
        "sweep": sweep,
        "plan": plan.digest,
        "cell": CellId(row.cell),
        "attempt": attempt,
        "host": "host-a" if attempt == 1 else "host-b",
        "holder": f"host/1/{attempt}",
        "started_at": started,
        "ended_at": started + timedelta(seconds=row.duration_s or 1),
        "evidence": None if "fault" in changes else evidence,
        "artifacts": () if "fault" in changes else artifacts,
    }
    return Outcome(**(fields | changes))


def demo_plan() -> Plan:
    gate = OverlayGate()
    options = {"metric": BASH_CALLS.name, "cases": {"list-exports": {"gate": "reduction"}}}
    policy = gate.policy(options, ("list-exports", "fix-total"))
    pin = Pin(name=gate.name, version=gate.version, options=policy)
    return a_plan(tasks=("list-exports", "fix-total"), trials=10, gates=(pin,))


def demo_rows(plan: Plan) -> tuple[Row, ...]:
    """Settle every cell of the plan: mostly right, and one of each kind that is not."""
    rows = {cell.id: _row(cell.task, cell.arm, cell.trial) for cell in plan.cells}
    special = {
        f"list-exports.{OFF}.4": {
            "oracle": OracleFinding(correct=False, answer_error="src/util.ts: expected ['util'], found []"),
            "sessions": (a_session(final_answer=HOSTILE, cost_usd=Decimal("0.0352")),),
        },
        f"fix-total.{OFF}.2": {
            "fault": Fault(kind=FaultKind.RATE_LIMIT, detail="429 after four attempts: " + HOSTILE),
            "sessions": (),
            "oracle": None,
            "scope": None,
            "metrics": {},
            "cost_usd": None,
            "duration_s": None,
        },
        f"fix-total.{ON}.7": {
            "oracle": OracleFinding(correct=None, problem="the check was killed by signal 9"),
        },
        f"fix-total.{ON}.9": {
            "unsettled": Unsettled.NEVER_STARTED,
            "sessions": (),
            "oracle": None,
            "scope": None,
            "metrics": {},
            "attempts": 0,
            "cost_usd": None,
            "duration_s": None,
        },
        f"fix-total.{ON}.3": {"attempts": 2},
    }
    return tuple(row.model_copy(update=special.get(cell, {})) for cell, row in rows.items())


def _row(task: str, arm: str, trial: int) -> Row:
    calls = (trial * 7 % 3) if arm == ON else 4 + trial % 4
    cost = Decimal("0.0312") + trial * Decimal("0.001")
    usage = Usage(input_tokens=11_000 + 37 * trial, output_tokens=900 + trial)
    return a_row(
        At(arm, trial, task),
        calls,
        sessions=(a_session(usage=usage, cost_usd=cost, tool_calls={"Bash": calls, "Read": 3}),),
        metrics={BASH_CALLS.name: Measured(name=BASH_CALLS.name, value=calls)},
        cost_usd=cost,
        duration_s=20.0 + 3.7 * trial,
    )


def a_report_input(plan: Plan | None = None, rows: Iterable[Row] | None = None) -> ReportInput:
    """Gather the demo sweep, or one of your own rows, as the finalizer would."""
    plan = plan or demo_plan()
    table = a_table(tuple(demo_rows(plan) if rows is None else rows), plan, ENDED_WELL)
    sweep = sweep_id(plan.name, plan.digest, 1)
    outcomes = {CellId(row.cell): _outcomes(plan, row) for row in table.rows}
    close = Close(sweep=sweep, reason=CloseReason.COMPLETE, closed_at=OPENED + timedelta(minutes=14, seconds=3))
    settlement = Settlement(
        sweep=sweep,
        plan=plan.digest,
        close=Digest.of(canonical_json(close)),
        cells=tuple(_settled(row, outcomes[CellId(row.cell)]) for row in table.rows),
        workers_settled=True,
        settled_at=OPENED + timedelta(minutes=14, seconds=4),
    )
    settled = Digest.of(canonical_json(settlement))
    cleanup = CleanupRecord(sweep=sweep, settlement=settled, complete=True, cleaned_at=OPENED + timedelta(minutes=15))
    return ReportInput(
        sweep=sweep,
        plan=plan,
        opening=Opening(sweep=sweep, plan=plan.digest, edition=1, opened_at=OPENED, submitted_by="ada@host-a"),
        close=close,
        settlement=settlement,
        cleanup=cleanup,
        table=table,
        verdicts=_verdicts(table, settled, Digest.of(canonical_json(cleanup))),
        outcomes=outcomes,
        counted={CellId(row.cell): row.attempts for row in table.rows if row.unsettled is None},
    )


def an_uncontained_report_input() -> ReportInput:
    """Gather the demo sweep, one cell of which ran where nothing was contained."""
    source = a_report_input()
    cell, (outcome,) = next(iter(source.outcomes.items()))
    assert outcome.evidence is not None
    evidence = outcome.evidence.model_copy(update={"sandbox": {"backend": "trusting", "containment": "none"}})
    return replace(source, outcomes={**source.outcomes, cell: (outcome.model_copy(update={"evidence": evidence}),)})


def _outcomes(plan: Plan, row: Row) -> tuple[Outcome, ...]:
    if row.unsettled is not None:
        return ()
    if row.fault is not None:
        return tuple(an_outcome(plan, row, attempt, fault=row.fault) for attempt in range(1, row.attempts + 1))
    lost = Fault(kind=FaultKind.LOST, detail="the worker's lease expired")
    early = (an_outcome(plan, row, attempt, fault=lost) for attempt in range(1, row.attempts))
    return (*early, an_outcome(plan, row, row.attempts))


def _settled(row: Row, outcomes: tuple[Outcome, ...]) -> SettledCell:
    keys = [
        f"attempts/{row.cell}/{outcome.attempt}/{file}.json" for outcome in outcomes for file in ("claim", "outcome")
    ]
    return SettledCell(
        cell=CellId(row.cell),
        result=a_digest(row.cell) if row.unsettled is None else None,
        attempts=tuple(Sealed(key=key, digest=a_digest(key)) for key in keys),
        unsettled=row.unsettled,
    )


def _verdicts(table: Table, settlement: Digest, cleanup: Digest) -> tuple[Verdict, ...]:
    basis = Basis(sweep_id(table.plan.name, table.plan.digest, 1), settlement, cleanup)
    return tuple(basis.verdict(pin, OverlayGate().judge(table, pin.options)) for pin in table.plan.gates)
