"""Whole runs of the protocol's 300 that the ruling must call proven, harmful and inconclusive."""

import pytest

from farm.gates.reliability.policy import ReliabilityPolicy
from farm.gates.reliability.ruling import Authorship, Registration, Ruling, rule
from tests.builders.live_histories import HISTORIES, proven, trials

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
