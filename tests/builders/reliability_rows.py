"""Whole tables of the reliability protocol from one letter a run, as its own examples write them."""

from collections.abc import Iterator, Mapping, Sequence

from farm.gates.table import Row, Table
from farm.model import Cell, CellOrder, ExitKind, OracleFinding, Plan, Preregistration, ScopeFinding, Terminal, governed
from farm.planning.cells import Ordering, order_cells
from tests.builders.gates import ENDED_WELL, a_session, an_exit
from tests.builders.live_histories import ARMS, BUDGET, TASKS, a_plan

PASSED = frozenset("snXYAr")
CLAIMED = frozenset("snfcY")
TERMINALS = {
    "s": Terminal.CERTIFIED,
    "c": Terminal.CERTIFIED,
    "x": Terminal.EXHAUSTED,
    "X": Terminal.EXHAUSTED,
    "Y": Terminal.EXHAUSTED,
    "a": Terminal.ABSTAINED,
    "A": Terminal.ABSTAINED,
}
"""How a governed run ends; with other letters no contract was opened."""
TIMED_OUT = "t"
RECEIPT = "sha256:" + "0" * 64

Letters = Mapping[str, Sequence[str]]
"""By part, a string for each task, a letter for each of its trials."""


def a_lettered_table(letters: Letters, registered: Preregistration | None) -> Table:
    """Tell the runs as the table that a gate is asked about."""
    plan = _plan(len(letters["baseline"]), len(letters["baseline"][0]), registered)
    return Table(plan=plan, lifecycle=ENDED_WELL, rows=tuple(_rows(letters, plan)))


def _plan(tasks: int, trials: int, registered: Preregistration | None) -> Plan:
    whole = a_plan(registered)
    kept = whole.tasks[:tasks]
    cells = order_cells([task.id for task in kept], list(ARMS), trials, Ordering(CellOrder.DIAGONAL))
    return whole.model_copy(update={"tasks": kept, "trials": trials, "cells": tuple(cells)})


def _rows(letters: Letters, plan: Plan) -> Iterator[Row]:
    place = {task.id: number for number, task in enumerate(TASKS)}
    for cell in plan.cells:
        part, _ = ARMS[cell.arm]
        yield _row(cell, letters[part.value][place[cell.task]][cell.trial - 1])


def _row(cell: Cell, letter: str) -> Row:
    part, role = ARMS[cell.arm]
    exit_ = an_exit(ExitKind.LIMIT) if letter == TIMED_OUT else an_exit()
    claims = governed.Governed(claims_success=letter in CLAIMED)
    return Row(
        cell=cell.id,
        task=cell.task,
        arm=cell.arm,
        role=role,
        trial=cell.trial,
        sessions=(a_session(exit=exit_),),
        oracle=OracleFinding(correct=letter in PASSED),
        scope=ScopeFinding(),
        governed=claims if part.value == "baseline" else _governed(claims, letter, is_told=part.value == "reference"),
        attempts=1,
    )


def _governed(claims: governed.Governed, letter: str, *, is_told: bool) -> governed.Governed:
    if letter not in TERMINALS:
        return claims.model_copy(update={"is_governed": True})
    coverage = governed.Coverage(
        status="complete", critical_percent=100.0, weighted_percent=100.0, sources=1, receipt=RECEIPT
    )
    contract = governed.ContractRecord(
        receipt=RECEIPT, checks=1, attempts=BUDGET, matches_reference=True if is_told else None, coverage=coverage
    )
    return claims.model_copy(update={"is_governed": True, "contract": contract, "terminal": TERMINALS[letter]})
