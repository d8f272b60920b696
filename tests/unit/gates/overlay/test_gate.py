import pytest

from farm.errors import SpecError
from farm.gates.overlay import OverlayGate
from farm.model import Decision, ExitKind, OracleFinding
from tests.builders.gates import BASH_CALLS, BEHAVIOURS, OFF, ON, a_plan, a_row, a_session, a_table, an_exit, rows_of

GATE = OverlayGate()
ANY_BEHAVIOURS = BEHAVIOURS.model_copy(update={"maximum": None})


def policy(**options) -> dict:
    return GATE.policy({"metric": BASH_CALLS.name, **options}, ("answer",))


def test_policy_pins_every_constant_and_every_case() -> None:
    assert policy(cases={"answer": {"gate": "reduction"}}) == {
        "arms": None,
        "cases": {
            "answer": {
                "metric": "bash_tool_calls",
                "planned": None,
                "correct_metric": None,
                "gate": "reduction",
                "comparator": "ratio",
                "unsupported_hypothesis": None,
            }
        },
        "rules": {
            "lower_ratio": "4/5",
            "higher_ratio": "6/5",
            "least_lift": "1/2",
            "lift_value": 2,
            "lift_samples": 3,
        },
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cases": {"anwser": {}}}, "anwser"),
        ({"cases": {"answer": {"gate": "speed"}}}, "cases.answer.gate"),
        ({"arms": {"on": "a", "off": "a"}}, "both on and off"),
        ({"rules": {"lower_ratio": "0/5"}}, "positive"),
        ({"rules": {"lower_ratio": "0.8"}}, "rules.lower_ratio"),
        ({"trials": 3}, "trials"),
        ({"metric": None}, "has no metric"),
    ],
)
def test_policy_refuses_what_it_does_not_know(options: dict, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        policy(**options)


def test_arms_come_from_roles_unless_the_policy_names_them() -> None:
    worse = a_table(rows_of([3] * 10, [1] * 10))

    by_role = GATE.judge(worse, policy())
    turned = GATE.judge(worse, policy(arms={"on": OFF, "off": ON}))

    assert by_role.findings["cases"]["answer"]["status"] == "regressed"
    assert turned.findings["cases"]["answer"]["status"] == "improved"


def test_an_arm_that_the_plan_lacks_fails_and_is_named() -> None:
    judgement = GATE.judge(a_table(rows_of([0] * 10, [5] * 10)), policy(arms={"on": "overlay-in", "off": OFF}))

    assert judgement.decision is Decision.FAIL
    assert "overlay-in" in judgement.summary


def test_a_metric_that_the_plan_does_not_declare_fails_and_is_named() -> None:
    judgement = GATE.judge(a_table(rows_of([0] * 10, [5] * 10)), policy(metric="latency"))

    assert judgement.decision is Decision.FAIL
    assert "latency" in judgement.summary


def test_an_unsupported_claim_that_bought_no_sample_fails_as_such() -> None:
    unsupported = policy(cases={"answer": {"unsupported_hypothesis": "the text says nothing about tools"}})

    found = GATE.judge(a_table(()), unsupported).findings["cases"]["answer"]

    assert (found["status"], found["passed"]) == ("unsupported_hypothesis", False)


def test_one_sample_too_many_is_as_incomplete_as_one_too_few() -> None:
    found = GATE.judge(a_table(rows_of([0] * 11, [5] * 10)), policy()).findings["cases"]["answer"]

    assert (found["status"], found["measurements_valid"]) == ("incomplete", False)


@pytest.mark.parametrize("answer", [None, "", " \n\t"])
def test_a_blank_final_answer_is_an_invalid_measurement_even_when_the_oracle_calls_it_wrong(answer: str | None) -> None:
    blank = a_row(sessions=(a_session(final_answer=answer),), oracle=OracleFinding(correct=False))
    rows = (blank, *rows_of([0] * 10, [5] * 10)[1:])

    found = GATE.judge(a_table(rows), policy()).findings["cases"]["answer"]

    assert found["status"] == "incomplete"
    assert found["samples"][0]["exit_reason"] == "validation_failed"


def test_a_workspace_that_was_left_behind_fails_its_case() -> None:
    left = a_row(cleanup_problem="the workspace could not be removed")
    rows = (left, *rows_of([0] * 10, [5] * 10)[1:])

    found = GATE.judge(a_table(rows), policy()).findings["cases"]["answer"]

    assert (found["passed"], found["reason"]) == (False, "fail: workspaces-left")


def test_a_check_says_operator_threshold_and_observed_value() -> None:
    judgement = GATE.judge(a_table(rows_of([4] * 9 + [5], [5] * 10)), policy(gate="reduction"))

    reduction = next(check for check in judgement.checks if check.name == "reduction")
    assert (reduction.observed, reduction.operator, reduction.threshold, reduction.holds) == (4.1, "<=", 4, False)


def test_an_incomplete_case_leaves_its_comparisons_open_and_decides_to_fail() -> None:
    judgement = GATE.judge(a_table(rows_of([0] * 9, [5] * 10)), policy(gate="reduction"))

    open_checks = {check.name for check in judgement.checks if check.holds is None}
    assert open_checks == {"reduction", "efficacy"}
    assert judgement.decision is Decision.FAIL


@pytest.mark.parametrize(("on", "status"), [(6, "improved"), (5, "no_measured_improvement")])
def test_a_higher_metric_improves_from_exactly_six_fifths(on: int, status: str) -> None:
    plan = a_plan(metric=ANY_BEHAVIOURS)

    judgement = GATE.judge(
        a_table(rows_of([on] * 10, [5] * 10, ANY_BEHAVIOURS), plan), policy(metric=ANY_BEHAVIOURS.name)
    )

    assert judgement.findings["cases"]["answer"]["status"] == status


@pytest.mark.parametrize("kind", [ExitKind.STOPPED, ExitKind.LIMIT, ExitKind.SIGNALED])
def test_a_success_whose_stream_was_cut_is_no_valid_measurement(kind: ExitKind) -> None:
    cut = a_row(sessions=(a_session(exit=an_exit(kind)),))
    rows = (cut, *rows_of([0] * 10, [5] * 10)[1:])

    found = GATE.judge(a_table(rows), policy()).findings["cases"]["answer"]

    assert found["samples"][0]["measurement_passed"] is False


def test_efficacy_decides_nothing() -> None:
    judgement = GATE.judge(a_table(rows_of([40] * 10, [30] * 10)), policy())

    efficacy = next(check for check in judgement.checks if check.name == "efficacy")
    assert (judgement.decision, efficacy.holds, efficacy.decides) == (Decision.PASS, False, False)


def test_one_failing_case_fails_the_sweep_and_is_named_in_the_summary() -> None:
    plan = a_plan(tasks=("answer", "literal"), trials=2)
    rows = rows_of([0, 0], [1, 1]) + rows_of([0], [1, 1], task="literal")
    both = GATE.policy({"metric": BASH_CALLS.name}, ("answer", "literal"))

    judgement = GATE.judge(a_table(rows, plan), both)

    assert judgement.decision is Decision.FAIL
    assert judgement.summary.startswith("1 of 2 cases fail: literal (valid-measurements-on")


def test_cases_are_judged_in_the_plans_order_whatever_the_policys() -> None:
    plan = a_plan(tasks=("b", "a"), trials=1)
    table = a_table(rows_of([0], [1], task="a") + rows_of([0], [1], task="b"), plan)
    pinned = GATE.policy({"metric": BASH_CALLS.name}, ("a", "b"))

    assert list(GATE.judge(table, pinned).findings["cases"]) == ["b", "a"]


def test_a_number_beyond_doubles_is_still_compared_and_reported() -> None:
    huge = 10**400
    judgement = GATE.judge(a_table(rows_of([huge] * 9 + [huge + 1], [huge] * 10)), policy())

    found = judgement.findings["cases"]["answer"]
    assert (found["status"], found["mean_on"]) == ("regressed", huge)


def test_the_metrics_of_every_case_are_named_for_planning() -> None:
    pinned = GATE.policy({"metric": BASH_CALLS.name, "cases": {"b": {"metric": "thinking"}}}, ("a", "b"))
    assert GATE.needed_metrics(pinned) == (BASH_CALLS.name, "thinking")
