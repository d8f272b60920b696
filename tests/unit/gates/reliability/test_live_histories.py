"""Whole runs of the protocol's 300 that the gate must call proven, harmful and inconclusive."""

from typing import Any

import pytest
from pydantic import JsonValue

from farm.gates.protocol import Judgement
from farm.gates.reliability.gate import ReliabilityGate
from farm.gates.table import Table
from farm.model import Decision
from tests.builders.live_histories import ARMS, HISTORIES, History, a_plan, a_table, proven, trials

GATE = ReliabilityGate()
POLICY = GATE.policy({}, ())
DECISIONS = {"PROVEN": Decision.PASS, "HARMFUL": Decision.FAIL, "INCONCLUSIVE": Decision.INCONCLUSIVE}


def lacking(judgement: Judgement) -> list[str]:
    return [check.name for check in judgement.checks if check.holds is not True]


def ruled(table: Table, **changes: JsonValue) -> Judgement:
    return GATE.judge(table, POLICY | changes)


@pytest.mark.parametrize("ruling", HISTORIES)
def test_a_history_is_ruled_as_it_was_written(ruling: str) -> None:
    judged = ruled(a_table(HISTORIES[ruling]))
    assert (judged.decision, judged.findings["ruling"]) == (DECISIONS[ruling], ruling)


def test_the_proven_history_proves_nothing_without_its_registration() -> None:
    judged = ruled(a_table(proven, a_plan(preregistration=None)), replicates=100)
    assert judged.decision is Decision.INCONCLUSIVE
    assert lacking(judged) == ["locked", "committed-and-published"]


def test_one_run_that_was_not_measured_leaves_nothing_to_prove() -> None:
    table = a_table(proven)
    gone: dict[str, Any] = {"governed": None, "oracle": None, "sessions": ()}
    rows = (table.rows[0].model_copy(update=gone), *table.rows[1:])
    assert ruled(table.model_copy(update={"rows": rows}), replicates=100).decision is Decision.INCONCLUSIVE


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_a_history_is_told_as_a_table_in_the_plans_order(history: History) -> None:
    table = a_table(history)
    assert [row.cell for row in table.rows] == [cell.id for cell in table.plan.cells]
    told = trials(history)
    for row in table.rows:
        (trial,) = (one for one in told[ARMS[row.arm][0]] if (one.task, one.number) == (row.task, row.trial))
        assert row.governed is not None
        assert row.oracle is not None
        assert (row.oracle.correct, row.governed.claims_success) == (trial.oracle_passed, trial.claims_success)
        assert row.governed.terminal == trial.terminal
