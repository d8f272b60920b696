"""Whole runs of the protocol's 300 that the ruling must call proven, harmful and inconclusive."""

import pytest

from farm.gates.reliability.policy import ReliabilityPolicy
from farm.gates.reliability.ruling import Authorship, Registration, Ruling, rule
from tests.builders.live_histories import ARMS, HISTORIES, History, a_table, proven, trials

REGISTERED = Registration(is_locked=True, is_committed=True, is_published=True)
POLICY = ReliabilityPolicy()


@pytest.mark.parametrize("ruling", HISTORIES)
def test_a_history_is_ruled_as_it_was_written(ruling: str) -> None:
    assert rule(trials(HISTORIES[ruling]), REGISTERED, POLICY).ruling == ruling


def test_the_proven_history_proves_nothing_without_its_registration() -> None:
    found = rule(trials(proven), Registration(), POLICY)
    assert found.ruling is Ruling.INCONCLUSIVE
    assert [check.name for check in found.proof if not check.holds] == ["locked", "committed-and-published"]


def test_the_proven_history_has_no_price_of_a_contract_of_ones_own() -> None:
    assert rule(trials(proven), REGISTERED, POLICY).authorship is Authorship.NONE


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
