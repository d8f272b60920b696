import pytest

from farm.gates.protocol import Basis, Judgement
from farm.model import Decision, LockPin, PilotSize, Pin, Preregistration, SweepId, Verdict
from tests.builders.gates import a_digest

LOCK = LockPin(id="first-protocol", digest=a_digest("lock"))
PILOT = Preregistration(lock=LOCK, pilot=PilotSize(tasks=2, of_tasks=20, trials=1, of_trials=5))


def the_verdict(decision: Decision, preregistration: Preregistration | None) -> Verdict:
    basis = Basis(SweepId("s-0.1"), a_digest("settlement"), a_digest("cleanup"), preregistration)
    return basis.verdict(Pin(name="g", version="1"), Judgement(decision=decision, summary="all hold", checks=()))


def test_what_passes_in_a_pilot_is_inconclusive_and_says_why() -> None:
    verdict = the_verdict(Decision.PASS, PILOT)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert verdict.summary == "a pilot never passes (2 of 20 tasks, 1 trials in place of 5): all hold"


@pytest.mark.parametrize("decision", [Decision.FAIL, Decision.INCONCLUSIVE])
def test_a_pilot_may_fail_or_decide_nothing(decision: Decision) -> None:
    verdict = the_verdict(decision, PILOT)
    assert (verdict.decision, verdict.summary) == (decision, "all hold")


def test_a_whole_sweep_under_a_lock_passes() -> None:
    assert the_verdict(Decision.PASS, Preregistration(lock=LOCK)).decision is Decision.PASS


def test_a_verdict_carries_the_plans_preregistration() -> None:
    assert the_verdict(Decision.FAIL, PILOT).preregistration == PILOT
    assert the_verdict(Decision.FAIL, None).preregistration is None
