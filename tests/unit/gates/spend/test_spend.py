from decimal import Decimal

import pytest

from farm.errors import SpecError
from farm.gates.protocol import Judgement
from farm.gates.spend import SpendGate
from farm.gates.table import Lifecycle, Row, Spent
from farm.model import Check, CloseReason, Decision, Unsettled
from tests.builders.gates import ENDED_WELL, OFF, ON, At, a_plan, a_row, a_table

GATE = SpendGate()
TASKS = ("one", "two")
UNKNOWN = Spent(known_usd=Decimal("0.3"), known_tokens=30)


def spent(usd: str, tokens: int = 0) -> Spent:
    return Spent(usd=Decimal(usd), tokens=tokens, known_usd=Decimal(usd), known_tokens=tokens)


def rows(on: Spent, off: Spent, changes: dict[At, dict[str, object]]) -> tuple[Row, ...]:
    places = (At(arm, 1, task) for task in TASKS for arm in (OFF, ON))
    return tuple(a_row(at, **{"spent": on if at.arm == ON else off} | changes.get(at, {})) for at in places)


def judged(
    on: Spent, off: Spent, changes: dict[At, dict[str, object]], lifecycle: Lifecycle = ENDED_WELL, **options: object
) -> Judgement:
    table = a_table(rows(on, off, changes), a_plan(TASKS, trials=1), lifecycle)
    return GATE.judge(table, GATE.policy(options, TASKS))


def check(judgement: Judgement, name: str) -> Check:
    return next(one for one in judgement.checks if one.name == name)


def test_a_sweep_may_spend_all_of_its_bound_and_no_more() -> None:
    assert judged(spent("0.1"), spent("0.2"), {}, most=0.6).decision is Decision.PASS
    above = judged(spent("0.1"), spent("0.2"), {}, most=0.59)
    assert above.decision is Decision.FAIL
    assert above.summary == "sweep: above its bound (at least 0.6 usd of 0.59)."
    assert (check(above, "spent").observed, check(above, "spent").holds) == (0.6, False)


def test_what_cells_without_a_measurement_took_counts_and_is_told() -> None:
    lost = {At(ON, 1, "one"): {"oracle": None, "spent": spent("5")}}

    judgement = judged(spent("1"), spent("1"), lost, most=7)

    assert judgement.decision is Decision.FAIL
    assert check(judgement, "spent").note == "5 of it for cells without a measurement"
    assert judgement.findings["arms"] == {
        OFF: {"known": 2, "unknown_cells": 0, "without_measurement": 0},
        ON: {"known": 6, "unknown_cells": 0, "without_measurement": 5},
    }


def test_what_nobody_knows_is_not_zero() -> None:
    judgement = judged(spent("1"), spent("1"), {At(ON, 1, "two"): {"spent": UNKNOWN}}, most=100)

    assert judgement.decision is Decision.INCONCLUSIVE
    assert check(judgement, "spent").note == f"unknown in 1 cells, two.{ON}.1 first"


def test_what_is_known_may_be_too_much_by_itself() -> None:
    assert judged(spent("1"), spent("1"), {At(ON, 1, "two"): {"spent": UNKNOWN}}, most=3).decision is Decision.FAIL


def test_tokens_are_counted_where_the_policy_says_so() -> None:
    usd_unknown = Spent(usd=None, tokens=50, known_tokens=50)

    assert judged(usd_unknown, usd_unknown, {}, measure="tokens", most=200).decision is Decision.PASS
    assert judged(usd_unknown, usd_unknown, {}, measure="tokens", most=199).decision is Decision.FAIL
    assert judged(usd_unknown, usd_unknown, {}, measure="usd", most=200).decision is Decision.INCONCLUSIVE


def test_a_candidate_is_held_against_what_its_incumbent_took() -> None:
    assert judged(spent("0.3"), spent("0.2"), {}, most_of_incumbent=1.5).decision is Decision.PASS
    judgement = judged(spent("0.3"), spent("0.2"), {}, most_of_incumbent=1.4)
    assert judgement.decision is Decision.FAIL
    found = check(judgement, "spent-of-incumbent")
    assert (found.subject, found.threshold, found.observed) == (f"{ON} against {OFF}", 0.56, 0.6)
    assert found.note == f"1.4 times what {OFF} took in the same 2 cells"


@pytest.mark.parametrize("arm", [ON, OFF])
def test_an_unknown_part_of_either_arm_leaves_a_comparison_open(arm: str) -> None:
    judgement = judged(spent("1"), spent("1"), {At(arm, 1, "one"): {"spent": UNKNOWN}}, most_of_incumbent=9.0)

    assert judgement.decision is Decision.INCONCLUSIVE
    assert f"{arm}: unknown in 1 cells, one.{arm}.1 first" in check(judgement, "spent-of-incumbent").note
    most = "of 18" if arm == ON else "of nobody knows how much"
    assert judgement.summary.endswith(
        f"not known to be within its bound (at least {1.3 if arm == ON else 2} usd {most})."
    )


@pytest.mark.parametrize("change", [{"reused": True}, {"unsettled": Unsettled.NEVER_STARTED, "oracle": None}])
@pytest.mark.parametrize("factor", [0.5, 9.0])
def test_a_cell_that_was_taken_over_or_never_ended_leaves_a_comparison_open(
    change: dict[str, object], factor: float
) -> None:
    judgement = judged(spent("1"), spent("1"), {At(OFF, 1, "two"): change}, most_of_incumbent=factor)

    assert judgement.decision is Decision.INCONCLUSIVE
    assert check(judgement, "spent-of-incumbent").note.endswith(f"two.{OFF}.1 never ended, or was taken over")


def test_a_cell_that_the_other_arm_does_not_have_is_not_compared() -> None:
    some = tuple(row for row in rows(spent("1"), spent("1"), {}) if row.cell != f"two.{OFF}.1")
    table = a_table(some, a_plan(TASKS, trials=1))

    judgement = GATE.judge(table, GATE.policy({"most_of_incumbent": 1.0}, TASKS))

    assert judgement.decision is Decision.PASS
    assert check(judgement, "spent-of-incumbent").observed == 1


def test_a_sweep_that_did_not_run_to_its_end_passes_nothing_and_may_have_spent_too_much() -> None:
    late = Lifecycle(close=CloseReason.DEADLINE, cleanup_incomplete=False)

    within = judged(spent("1"), spent("1"), {}, lifecycle=late, most=4)
    assert within.decision is Decision.INCONCLUSIVE
    assert within.summary == "The sweep did not run to its end (deadline). sweep: within its bound (4 usd of 4)."
    assert judged(spent("1"), spent("1"), {}, lifecycle=late, most=3).decision is Decision.FAIL


def test_arms_that_the_plan_lacks_leave_nothing_to_judge() -> None:
    pairs = [{"candidate": ON, "incumbent": "other"}]

    judgement = judged(spent("1"), spent("1"), {}, most_of_incumbent=1.0, pairs=pairs)

    assert (judgement.decision, judgement.checks) == (Decision.INCONCLUSIVE, ())
    assert judgement.summary == "Nothing to judge: the plan holds no arm 'other'."


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "it bounds nothing"),
        ({"most": -1}, "most"),
        ({"most": 1, "pairs": [{"candidate": ON, "incumbent": OFF}]}, "pairs are compared by most_of_incumbent"),
    ],
)
def test_a_policy_that_asks_nothing_sensible_is_refused(options: dict[str, object], problem: str) -> None:
    with pytest.raises(SpecError, match=f"gate spend: .*{problem}"):
        GATE.policy(options, TASKS)
