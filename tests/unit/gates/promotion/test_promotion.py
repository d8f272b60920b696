"""The promotion gate over settled tables."""

from typing import Any

import pytest

from farm.gates.protocol import Judgement
from farm.gates.table import Lifecycle, Row
from farm.model import (
    ArmRole,
    CloseReason,
    Decision,
    ExitReason,
    Unsettled,
)
from tests.builders.gates import OFF, ON, At, a_row, a_session, an_arm
from tests.builders.promotion import an_excluded, an_implementation
from tests.builders.promotion_rows import (
    CHEAP,
    CLEAN,
    DEAR,
    check_of,
    costing,
    decided,
    each,
    judged,
    named,
    reviewed,
    ruled,
    the_plan,
)


def test_five_percent_less_for_the_same_answers_promotes() -> None:
    found = judged(CHEAP, DEAR)

    assert found.decision is Decision.PASS
    assert found.summary == f"{ON} against {OFF}: promote (median)."
    assert (decided(found)["decision"], decided(found)["median_improvement_pct"]) == ("promote", 5)
    assert all(check.holds for check in found.checks)


def test_a_hair_less_than_five_percent_keeps_the_incumbent() -> None:
    """Rounded to one decimal it would be 5.0."""
    found = judged(each(costing("0.950001")), DEAR)

    assert (found.decision, ruled(found)["rule"]) == (Decision.FAIL, "improvement")
    assert decided(found)["reasons"] == ["the median improvement of 4.9999 % is below 5.0 %"]


def test_two_more_resolved_runs_promote_at_a_fifth_more_and_one_does_not() -> None:
    def lost(count: int) -> list[Row]:
        rows = each(costing("1.00"), arm=OFF)
        wrong = [an_implementation(At(OFF, trial, "one"), resolved=False) for trial in range(1, count + 1)]
        return [*wrong, *rows[count:]]

    two, one = (judged(each(costing("1.20")), lost(count)) for count in (2, 1))

    assert (two.decision, ruled(two)["rule"], ruled(two)["resolution_margin"]) == (Decision.PASS, "margin", 2)
    assert (one.decision, ruled(one)["margin_is_noise"]) == (Decision.FAIL, True)
    assert "a lead of 1 resolved run is noise: the median decides" in decided(one)["reasons"]


def test_a_run_that_is_lost_keeps_the_incumbent_however_cheap_the_candidate_is() -> None:
    wrong = an_implementation(At(ON, 3, "three"), cost="0.01", resolved=False)
    found = judged([*each(costing("0.01"))[:-1], wrong], DEAR)

    assert found.decision is Decision.FAIL
    assert ruled(found)["broken"] == [
        {"rule": "resolution", "task": "three"},
        {"rule": "quality-floor", "task": "three"},
    ]
    assert check_of(found, "quality-floor", "three").holds is False


def test_66_one_excluded_run_leaves_the_evidence_insufficient() -> None:
    found = judged([*CHEAP[:-1], an_excluded(At(ON, 3, "three"))], DEAR)

    assert found.decision is Decision.INCONCLUSIVE
    assert {one["rule"] for one in ruled(found)["broken"]} == {"least-runs", "no-exclusions", "equal-runs"}
    assert check_of(found, "no-exclusions", "three").holds is None
    assert f"{ON} against {OFF}: insufficient evidence (three: least-runs: 2 is not >= 3)." == found.summary


def test_an_arm_without_a_valid_run_resolves_none() -> None:
    found = judged([*CHEAP[:6], *each(an_excluded, ("three",))], DEAR)

    assert check_of(found, "resolution", "three").observed == 0
    assert {"rule": "resolution", "task": "three"} in ruled(found)["broken"]


@pytest.mark.parametrize("unsettled", Unsettled)
def test_what_never_settled_is_an_exclusion_and_never_a_wrong_answer(unsettled: Unsettled) -> None:
    lost = a_row(At(ON, 3, "three"), sessions=(), oracle=None, scope=None, unsettled=unsettled)
    found = judged([*CHEAP[:-1], lost], DEAR)

    assert found.decision is Decision.INCONCLUSIVE
    assert decided(found)["tasks"][2]["candidate"]["excluded_runs"] == 1


def test_36_one_run_of_unknown_cost_leaves_the_metric_unmeasured() -> None:
    found = judged([*CHEAP[:-1], an_implementation(At(ON, 3, "three"), cost=None)], DEAR)

    assert (found.decision, ruled(found)["rule"]) == (Decision.INCONCLUSIVE, "metric-measured")
    assert decided(found)["tasks"][2]["candidate_metric"] is None


def test_62_a_task_that_no_arm_resolves_does_not_decide_unless_it_costs_more_than_twice_as_much() -> None:
    def unresolved(cost: str) -> Judgement:
        ours, theirs = (
            each(costing(each_, resolved=False), ("three",), arm) for arm, each_ in ((ON, cost), (OFF, "1"))
        )
        return judged([*CHEAP[:6], *ours], [*DEAR[:6], *theirs])

    twice, more = unresolved("2.00"), unresolved("2.001")

    assert (twice.decision, decided(twice)["ungated_tasks"]) == (Decision.PASS, ["three"])
    assert (more.decision, ruled(more)["rule"]) == (Decision.FAIL, "ungated-regression")


def test_63_a_verdict_never_gets_worse_with_progress_on_a_task_that_the_incumbent_never_resolves() -> None:
    def solved(count: int) -> Decision:
        ours = [an_implementation(At(ON, trial, "three"), resolved=trial <= count) for trial in (1, 2, 3)]
        theirs = each(costing("1.00", resolved=False), ("three",), OFF)
        return judged([*each(costing("1.00"), ("one", "two")), *ours], [*DEAR[:6], *theirs]).decision

    assert [solved(count) for count in range(4)] == [Decision.FAIL, Decision.FAIL, Decision.PASS, Decision.PASS]


def test_64_one_of_three_tasks_gated_is_too_little() -> None:
    ours, theirs = (each(costing("1", resolved=False), ("two", "three"), arm) for arm in (ON, OFF))
    found = judged([*CHEAP[:3], *ours], [*DEAR[:3], *theirs])

    assert (found.decision, ruled(found)["rule"]) == (Decision.INCONCLUSIVE, "gated-share")


def test_where_no_arm_resolves_anything_nothing_is_gated_and_nothing_decided() -> None:
    ours, theirs = (each(costing("1", resolved=False), arm=arm) for arm in (ON, OFF))
    found = judged(ours, theirs)

    assert found.decision is Decision.INCONCLUSIVE
    assert ruled(found)["broken"] == [{"rule": "gated-tasks", "task": None}]


def test_67_runs_that_never_used_their_skill_are_gated_and_held_to_the_floor() -> None:
    def unused(arm: str) -> list[Row]:
        said = a_session(reason=ExitReason.SKILL_NOT_INVOKED, problem="never used")
        return each(costing("1", sessions=(said,)), ("three",), arm)

    found = judged([*CHEAP[:6], *unused(ON)], [*DEAR[:6], *unused(OFF)])

    assert (found.decision, ruled(found)["rule"]) == (Decision.FAIL, "quality-floor")
    assert decided(found)["tasks"][2]["skill_attributable_failure"] is True


@pytest.mark.parametrize("close", [CloseReason.BREAKER, CloseReason.CANCELLED, CloseReason.DEADLINE])
def test_a_sweep_that_did_not_run_to_its_end_authorises_nothing(close: CloseReason) -> None:
    found = judged(CHEAP, DEAR, Lifecycle(close=close, cleanup_incomplete=False))

    assert (found.decision, ruled(found)["rule"]) == (Decision.INCONCLUSIVE, "sweep-complete")


def test_without_a_model_that_both_arms_name_nothing_is_decided() -> None:
    off, on = the_plan().arms
    nameless = [a_row(At(row.arm, row.trial, row.task), sessions=(a_session(model=None),)) for row in CHEAP]
    other = the_plan(arms=(named(off, "model-a"), named(on, "model-b")))

    for found in (judged(nameless, DEAR), judged(CHEAP, DEAR, plan=other)):
        assert (found.decision, ruled(found)["rule"]) == (Decision.INCONCLUSIVE, "model-named")
    assert judged(CHEAP, DEAR, plan=the_plan(arms=(named(off, "m"), named(on, "m")))).decision is Decision.PASS


def test_a_task_that_one_arm_did_not_run_is_missing_and_no_row() -> None:
    found = judged(CHEAP[:6], DEAR)

    assert (found.decision, ruled(found)["rule"]) == (Decision.INCONCLUSIVE, "both-arms")
    assert [one["task"] for one in decided(found)["tasks"]] == ["one", "two"]


@pytest.mark.parametrize(
    ("metric", "saving", "warns"),
    [("cost_usd", 0, False), ("duration_s", 50, False), ("num_turns", 100 / 3, True), ("output_tokens", 10, True)],
)
def test_the_metric_is_the_policys(metric: str, saving: float, *, warns: bool) -> None:
    def slow(at: At) -> Row:
        session = a_session()
        usage = session.usage.model_copy(update={"output_tokens": 340 if at.arm == OFF else 306})
        report = session.model_copy(update={"turns": 3 if at.arm == OFF else 2, "usage": usage})
        return an_implementation(at, sessions=(report,), duration_s=10.0 if at.arm == OFF else 5.0)

    found = judged(each(slow), each(slow, arm=OFF), metric=metric)

    assert decided(found)["median_improvement_pct"] == pytest.approx(saving)
    assert (decided(found)["metric"], decided(found)["metric_warning"]) == (metric, warns)
    assert ("may lack what sub-agents spend" in found.summary) is warns
    assert any("sub-agents" in reason for reason in decided(found)["reasons"]) is warns


def test_68_an_arm_that_is_not_promoted_holds_back_the_other() -> None:
    other = an_arm("other", ArmRole.CANDIDATE)
    plan = the_plan(arms=(*the_plan().arms, other))
    same = each(costing("1.00"), arm="other")
    missing = [*same[:-1], an_excluded(At("other", 3, "three"))]

    assert judged([*CHEAP, *each(costing("0.90"), arm="other")], DEAR, plan=plan).decision is Decision.PASS
    assert judged([*CHEAP, *same], DEAR, plan=plan).decision is Decision.FAIL
    assert judged([*CHEAP, *missing], DEAR, plan=plan).decision is Decision.INCONCLUSIVE


def test_the_plan_must_say_who_is_set_against_whom() -> None:
    plan = the_plan(arms=(an_arm(OFF, ArmRole.COMPARATOR), an_arm(ON, ArmRole.CANDIDATE)))
    pair = {"candidate": ON, "incumbent": "nobody"}

    assert "names no pairs" in judged(CHEAP, DEAR, plan=plan).summary
    assert "no arm 'nobody'" in judged(CHEAP, DEAR, pairs=[pair]).summary
    assert judged(CHEAP, DEAR, plan=plan, pairs=[pair | {"incumbent": OFF}]).decision is Decision.PASS


def test_one_case_reviewed_better_and_none_worse_promotes() -> None:
    found = reviewed(("defect", {"f1": 0.57}, {"f1": 0.56}), CLEAN)

    assert found.decision is Decision.PASS
    assert ruled(found)["improved_tasks"] == ["defect"]
    assert decided(found)["tasks"][1]["clean_control"] is True


@pytest.mark.parametrize(
    ("ours", "theirs", "rule"),
    [
        ({"f1": 0.5699}, {"f1": 0.56}, "improved-case"),
        ({"f1": 0.799999998}, {}, "weighted-f1"),
        ({"f1": 0.9, "verdict_correct": 0}, {}, "verdict-correct"),
        ({"f1": 0.9, "blocker_recall": 0.5}, {}, "blocker-recall"),
    ],
)
def test_a_review_that_is_no_better_or_lets_something_go_keeps_the_incumbent(
    ours: dict[str, Any], theirs: dict[str, Any], rule: str
) -> None:
    found = reviewed(("defect", ours, theirs), CLEAN)

    assert (found.decision, ruled(found)["rule"]) == (Decision.FAIL, rule)


def test_a_clean_case_must_stay_clean() -> None:
    worse = {"clean": True, "false_positives": 1, "clean_pass": 0}
    found = reviewed(("defect", {"f1": 0.9}, {}), ("clean", worse, {"clean": True}))

    assert [one["rule"] for one in ruled(found)["broken"]] == ["clean-false-positives", "clean-pass"]


@pytest.mark.parametrize("ours", [{"f1": None}, {"f1": None, "verdict_correct": 0}])
def test_a_review_without_its_number_is_missing_and_nothing_else_counts(ours: dict[str, Any]) -> None:
    found = reviewed(("defect", ours, {}), CLEAN)

    assert found.decision is Decision.INCONCLUSIVE
    assert ruled(found)["broken"] == [{"rule": "values-known", "task": "defect"}]
