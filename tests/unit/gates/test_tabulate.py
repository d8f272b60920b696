"""From settled records to the table."""

from dataclasses import replace
from decimal import Decimal

from farm.gates.table import Spent
from farm.gates.tabulate import NOBODY_SAID, NOT_SETTLED, SettledRecords, tabulate
from farm.model import (
    NO_TOKENS,
    AttemptCleanup,
    Cell,
    CheckRun,
    Churn,
    CleanupRecord,
    Close,
    CloseReason,
    DoorReport,
    Evidence,
    FaultKind,
    ModelUse,
    Outcome,
    Sealed,
    SettledCell,
    Settlement,
    SweepId,
    Unsettled,
)
from tests.builders.gates import an_exit
from tests.builders.sweeps import START, D, Finding, a_plan, evidence, fault

PLAN = a_plan(trials=2)
SWEEP = SweepId("demo-000000000000.1")


def outcome(cell: Cell, finding: Finding, attempt: int = 1) -> Outcome:
    return Outcome(
        sweep=SWEEP,
        plan=PLAN.digest,
        cell=cell.id,
        attempt=attempt,
        host="host",
        holder="host/1",
        started_at=START,
        ended_at=START,
        evidence=finding if isinstance(finding, Evidence) else None,
        fault=None if isinstance(finding, Evidence) else finding,
    )


def settled(cell: Cell, claims: int, unsettled: Unsettled | None = None) -> SettledCell:
    attempts = (Sealed(key=f"attempts/{cell.id}/{number}/claim.json", digest=D) for number in range(1, claims + 1))
    result = None if unsettled else D
    return SettledCell(cell=cell.id, result=result, attempts=tuple(attempts), unsettled=unsettled)


def records(cells: tuple[SettledCell, ...], reason: CloseReason, *, workers_settled: bool = True) -> SettledRecords:
    one, two, three, _ = PLAN.cells
    return SettledRecords(
        plan=PLAN,
        close=Close(sweep=SWEEP, reason=reason, closed_at=START),
        settlement=Settlement(
            sweep=SWEEP, plan=PLAN.digest, close=D, cells=cells, workers_settled=workers_settled, settled_at=START
        ),
        cleanup=CleanupRecord(sweep=SWEEP, settlement=D, complete=True, problems=("odd",), cleaned_at=START),
        outcomes={
            one.id: outcome(one, evidence(cost="0.5")),
            two.id: outcome(two, evidence(cost=None), attempt=3),
            three.id: outcome(three, fault(FaultKind.LOST)),
        },
        cleanups={
            one.id: AttemptCleanup(cell=one.id, attempt=1, done=True),
            two.id: AttemptCleanup(cell=two.id, attempt=3, done=False, problem="busy"),
        },
    )


def test_every_planned_cell_has_a_row_that_says_what_became_of_it() -> None:
    one, two, three, four = PLAN.cells
    cells = (settled(one, 1), settled(two, 3), settled(three, 1), settled(four, 0, Unsettled.NEVER_STARTED))
    table = tabulate(records(cells, CloseReason.BREAKER))
    assert [row.cell for row in table.rows] == [cell.id for cell in PLAN.cells]
    assert [row.attempts for row in table.rows] == [1, 3, 1, 0]
    assert [row.cost_usd for row in table.rows] == [Decimal("0.5"), None, None, None]
    assert [row.duration_s for row in table.rows] == [1.5, 1.5, None, None]
    assert [row.oracle is not None for row in table.rows] == [True, True, False, False]
    assert [row.fault and row.fault.kind for row in table.rows] == [None, None, FaultKind.LOST, None]
    assert [row.unsettled for row in table.rows] == [None, None, None, "never-started"]
    assert [row.cleanup_problem for row in table.rows] == [None, "busy", NOBODY_SAID, None]
    assert table.lifecycle.cleanup_incomplete
    assert (table.lifecycle.close, table.lifecycle.timed_out) == (CloseReason.BREAKER, False)


def test_the_deadline_and_workers_that_outlived_the_grace_are_in_the_lifecycle() -> None:
    cells = tuple(settled(cell, 0, Unsettled.NEVER_STARTED) for cell in PLAN.cells)
    lifecycle = tabulate(records(cells, CloseReason.DEADLINE, workers_settled=False)).lifecycle
    assert lifecycle.timed_out
    assert lifecycle.errors == (NOT_SETTLED, "odd")
    assert not lifecycle.cleanup_incomplete


def test_a_row_holds_what_was_seen_of_the_visible_check_and_of_the_churn() -> None:
    one = PLAN.cells[0]
    verify, churn = CheckRun(exit=an_exit(code=1)), Churn(files=1, added_lines=2, removed_lines=3, binary_files=0)
    proven = evidence().model_copy(update={"verify": verify, "churn": churn})
    known = records(tuple(settled(cell, 1) for cell in PLAN.cells), CloseReason.COMPLETE)

    row = tabulate(replace(known, outcomes={one.id: outcome(one, proven)})).rows[0]

    assert (row.verify, row.churn) == (verify, churn)


def spent_of(outcomes: tuple[Outcome, ...], claims: int) -> Spent:
    one, *rest = PLAN.cells
    cells = (settled(one, claims), *(settled(cell, 0, Unsettled.NEVER_STARTED) for cell in rest))
    return tabulate(replace(records(cells, CloseReason.COMPLETE), attempts={one.id: outcomes})).rows[0].spent


def lost(attempt: int, doors: tuple[DoorReport, ...] | None) -> Outcome:
    return outcome(PLAN.cells[0], fault(FaultKind.LOST), attempt).model_copy(update={"doors": doors})


def test_a_row_holds_what_all_its_attempts_took_those_that_failed_included() -> None:
    tokens = NO_TOKENS.model_copy(update={"whole": 70, "output": 30})
    use = ModelUse(model="m", requests=1, tokens=tokens, cost_usd=Decimal("0.125"))
    door = DoorReport(provider="p", origin="https://p", models=(use,))
    measured = outcome(PLAN.cells[0], evidence(cost="0.5"), 2)

    found = spent_of((lost(1, (door,)), measured), claims=2)

    assert (found.usd, found.known_usd, found.known_tokens) == (Decimal("0.625"), Decimal("0.625"), 100)
    assert spent_of((lost(1, (door,)),), claims=1).tokens == 100
    assert found.tokens is None, "the agent of the second attempt had no door"


def test_an_attempt_that_says_nothing_or_left_no_outcome_makes_the_sum_unknown_and_not_zero() -> None:
    measured = outcome(PLAN.cells[0], evidence(cost="0.5"), 2)
    half = Decimal("0.5")

    assert spent_of((lost(1, None), measured), claims=2) == Spent(known_usd=half)
    assert spent_of((measured,), claims=2) == Spent(known_usd=half)


def test_a_cell_that_nobody_claimed_took_nothing() -> None:
    assert spent_of((), claims=0) == Spent(usd=Decimal(0), tokens=0)
