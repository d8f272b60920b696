import pytest

from farm.errors import SpecError
from farm.gates.health import HealthGate, HealthStatus, arm_health
from farm.gates.protocol import Judgement
from farm.gates.table import Row
from farm.model import Check, Decision, ExitReason, Fault, FaultKind, OracleFinding, Unsettled
from tests.builders.gates import OFF, ON, At, a_plan, a_row, a_session, a_table

WRONG = OracleFinding(correct=False)
CUT_OFF = Fault(kind=FaultKind.PROVIDER, detail="502 for ten minutes")
BROKEN = Fault(kind=FaultKind.EVIDENCE, detail="plan-evidence-invalid: the plan's session changed src/a.py")


def judged(*rows: Row, **options) -> Judgement:
    gate = HealthGate()
    return gate.judge(a_table(rows, a_plan(trials=2)), gate.policy(options, ("answer",)))


def check_of(judgement: Judgement, arm: str) -> Check:
    return next(check for check in judgement.checks if check.subject == arm)


def test_an_arm_that_is_wrong_on_every_task_is_observed_ok() -> None:
    found = judged(a_row(At(ON, 1), oracle=WRONG), a_row(At(ON, 2), oracle=WRONG), a_row(At(OFF, 1)))
    assert found.decision is Decision.PASS
    assert check_of(found, ON).note == "observed-ok: 2 of 2 fresh cells admissible"


def test_a_single_unusable_cell_of_any_arm_fails_the_sweep_and_the_cause_stays_open() -> None:
    found = judged(a_row(At(ON, 1), fault=CUT_OFF, oracle=None), a_row(At(OFF, 1)))
    assert found.decision is Decision.FAIL
    assert found.summary.startswith(f"Unusable: {ON}. The cause is undetermined")
    assert (check_of(found, ON).observed, check_of(found, ON).holds) == (0, False)
    assert check_of(found, ON).note == "unusable: 0 of 1 fresh cells admissible (session-error 1)"


def test_some_failures_beside_a_sound_cell_degrade_an_arm_and_fail_nothing() -> None:
    found = judged(a_row(At(ON, 1), fault=CUT_OFF, oracle=None), a_row(At(ON, 2)), a_row(At(OFF, 1)))
    assert found.decision is Decision.PASS
    assert check_of(found, ON).note == "degraded: 1 of 2 fresh cells admissible (session-error 1)"


def test_the_policy_says_how_many_sound_cells_are_enough() -> None:
    rows = (a_row(At(ON, 1), fault=CUT_OFF, oracle=None), a_row(At(ON, 2)), a_row(At(OFF, 1)))
    assert judged(*rows, least_admissible=2).decision is Decision.FAIL
    assert judged(a_row(At(ON, 1)), a_row(At(OFF, 1)), least_admissible=2).decision is Decision.PASS


def test_an_arm_whose_every_run_breaks_its_boundary_is_unusable() -> None:
    found = arm_health([a_row(At(ON, trial), fault=BROKEN, oracle=None) for trial in (1, 2)])
    assert (found.status, found.evidence_failures, found.execution_failures) == (HealthStatus.UNUSABLE, 2, 0)


def test_an_arm_that_never_loads_its_skill_is_unusable_though_its_cells_count() -> None:
    unproven = a_session(reason=ExitReason.SKILL_NOT_INVOKED, problem="never used")
    found = arm_health([a_row(At(ON), sessions=(unproven,))])
    assert (found.status, found.evidence_failures) == (HealthStatus.UNUSABLE, 1)


def test_a_cell_that_failed_in_both_ways_is_taken_off_once() -> None:
    found = arm_health([a_row(At(ON, 1), fault=BROKEN, oracle=None, cleanup_problem="busy"), a_row(At(ON, 2))])
    assert (found.execution_failures, found.evidence_failures, found.admissible) == (1, 1, 1)
    assert found.status is HealthStatus.DEGRADED


def test_reused_cells_alone_are_unknown_and_never_healthy() -> None:
    found = judged(*(a_row(At(arm), reused=True) for arm in (ON, OFF)))
    assert found.decision is Decision.INCONCLUSIVE
    assert [(check.holds, check.observed, check.decides) for check in found.checks] == [(None, None, False)] * 2


def test_reused_successes_do_not_save_an_arm_whose_fresh_cell_failed() -> None:
    found = judged(a_row(At(ON, 1), reused=True), a_row(At(ON, 2), fault=CUT_OFF, oracle=None), a_row(At(OFF, 1)))
    assert found.decision is Decision.FAIL


def test_an_arm_of_reused_cells_beside_a_sound_one_decides_nothing() -> None:
    found = judged(a_row(At(ON), reused=True), a_row(At(OFF)))
    assert found.decision is Decision.PASS
    assert check_of(found, ON).holds is None


def test_cells_that_never_began_say_nothing_of_their_arm() -> None:
    never = a_row(At(ON), unsettled=Unsettled.NEVER_STARTED, attempts=0, sessions=(), oracle=None)
    assert arm_health([never]).status is HealthStatus.UNKNOWN


def test_every_arm_has_its_record() -> None:
    found = judged(a_row(At(ON, 1), fault=CUT_OFF, oracle=None), a_row(At(ON, 2), reused=True), a_row(At(OFF, 1)))
    assert found.findings["arms"] == {
        OFF: {
            "status": "observed-ok",
            "fresh": 1,
            "reused": 0,
            "admissible": 1,
            "execution_failures": 0,
            "evidence_failures": 0,
            "kinds": {},
        },
        ON: {
            "status": "unusable",
            "fresh": 1,
            "reused": 1,
            "admissible": 0,
            "execution_failures": 1,
            "evidence_failures": 0,
            "kinds": {"session-error": 1},
        },
    }


@pytest.mark.parametrize("options", [{"least_admissible": 0}, {"arms": ["a"]}])
def test_a_wrong_option_is_refused(options: dict) -> None:
    with pytest.raises(SpecError, match=r"gate health: .*its one option is least_admissible"):
        HealthGate().policy(options, ("answer",))
