"""Laws of the overlay contract over random samples."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from farm.gates.exact import median
from farm.gates.overlay import OverlayGate
from farm.gates.overlay.comparison import Status, Values, efficacy, reduction, status_of
from farm.gates.overlay.policy import CasePolicy, Comparator, Rules
from farm.gates.protocol import Judgement
from farm.gates.table import Lifecycle, Row
from farm.model import (
    CloseReason,
    Decision,
    Direction,
    Fault,
    FaultKind,
    Measured,
    Metric,
    MetricSource,
    OracleFinding,
    ScopeFinding,
)
from tests.builders.gates import BASH_CALLS, OFF, ON, At, a_plan, a_row, a_session, a_table

RULES = Rules()
GATE = OverlayGate()
numbers = st.integers(0, 40) | st.floats(0, 40, allow_nan=False)
arms = st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.lists(numbers, min_size=n, max_size=n)] * 2))
directions = st.sampled_from(Direction)


def values_of(on: list, off: list) -> Values:
    return Values(on=tuple(map(Fraction, on)), off=tuple(map(Fraction, off)))


def a_metric(direction: Direction, maximum: int | None) -> Metric:
    return Metric(name="n", source=MetricSource.ORACLE, key="n", minimum=0, maximum=maximum, direction=direction)


@given(arms, directions)
def test_the_ratio_is_met_exactly_as_cross_multiplied_sums_say(sides: tuple, direction: Direction) -> None:
    on, off = (sum(map(Fraction, side)) for side in sides)

    met = efficacy(values_of(*sides), direction, Comparator.RATIO, RULES).holds

    if direction is Direction.LOWER:
        assert met == (off > 0 and 5 * on <= 4 * off)
    else:
        assert met == (on > 0 if off == 0 else 5 * on >= 6 * off)


@given(st.integers(1, 400), st.integers(1, 12))
def test_the_boundary_itself_is_met_and_the_next_step_is_not(half: int, count: int) -> None:
    off = [5 * half] * count
    on = [4 * half] * count
    beyond = [*on[:-1], on[-1] + 1]

    assert efficacy(values_of(on, off), Direction.LOWER, Comparator.RATIO, RULES).holds
    assert not efficacy(values_of(beyond, off), Direction.LOWER, Comparator.RATIO, RULES).holds


@given(arms)
def test_the_zero_median_rule_takes_over_exactly_when_the_middle_is_zero(sides: tuple) -> None:
    on, off = sides
    ranked = sorted(map(Fraction, off))
    middle = (ranked[(len(ranked) - 1) // 2] + ranked[len(ranked) // 2]) / 2

    assert median(tuple(map(Fraction, off))) == middle
    zero_rule = all(value == 0 for value in on)
    ratio_rule = sum(off) > 0 and 5 * sum(map(Fraction, on)) <= 4 * sum(ranked)
    assert reduction(values_of(on, off), RULES).holds == (zero_rule if middle == 0 else ratio_rule)


@given(arms, directions, st.none() | st.integers(1, 40), st.none() | st.just("absent"), st.integers(1, 6))
def test_precedence_is_total_and_the_first_that_applies(
    sides: tuple, direction: Direction, maximum: int | None, claim: str | None, planned: int
) -> None:
    on, off = (list(map(Fraction, side)) for side in sides)
    metric = a_metric(direction, maximum)
    case = CasePolicy(metric="n", unsupported_hypothesis=claim)

    status = status_of(values_of(*sides), planned, metric, case, RULES)

    out_of_bounds = maximum is not None and max(on + off) > maximum
    sign = 1 if direction is Direction.LOWER else -1
    optimum = 0 if direction is Direction.LOWER else maximum
    met = efficacy(values_of(*sides), direction, Comparator.RATIO, RULES).holds
    conditions = {
        Status.INCOMPLETE: len(on) != planned or out_of_bounds,
        Status.UNSUPPORTED: claim is not None,
        Status.REGRESSED: sign * sum(on) > sign * sum(off),
        Status.SATURATED: optimum is not None and set(off) == {optimum},
        Status.IMPROVED: met,
        Status.NO_IMPROVEMENT: True,
    }
    assert status == next(name for name, applies in conditions.items() if applies)


FLAWS = st.sampled_from(
    [
        {},
        {},
        {},
        {"oracle": OracleFinding(correct=False)},
        {"oracle": OracleFinding(correct=None, problem="killed")},
        {"scope": ScopeFinding(after_oracle=("x",))},
        {"sessions": (a_session(final_answer=" "),)},
        {"sessions": (), "fault": Fault(kind=FaultKind.LOST, detail="gone")},
        {"metrics": {BASH_CALLS.name: Measured(name=BASH_CALLS.name, value=-1)}},
        {"cleanup_problem": "left"},
    ]
)


@st.composite
def settled(draw: st.DrawFn) -> tuple[list[Row], Lifecycle, int]:
    trials = draw(st.integers(1, 4))
    rows = [
        a_row(At(arm, trial), draw(st.integers(0, 5)), BASH_CALLS, **draw(FLAWS))
        for arm in (ON, OFF)
        for trial in range(1, trials + 1)
        if draw(st.integers(0, 19))
    ]
    lifecycle = Lifecycle(
        close=CloseReason.COMPLETE if draw(st.integers(0, 9)) else CloseReason.DEADLINE,
        cleanup_incomplete=not draw(st.integers(0, 9)),
    )
    return rows, lifecycle, trials


def judged(rows: list[Row], lifecycle: Lifecycle, trials: int) -> Judgement:
    policy = GATE.policy({"metric": BASH_CALLS.name, "gate": "reduction"}, ("answer",))
    return GATE.judge(a_table(tuple(rows), a_plan(trials=trials), lifecycle), policy)


@given(settled(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(history: tuple, random) -> None:
    rows, lifecycle, trials = history
    shuffled = random.sample(rows, len(rows))

    assert judged(rows, lifecycle, trials) == judged(shuffled, lifecycle, trials)


@given(settled())
def test_it_passes_exactly_when_every_deciding_check_holds(history: tuple) -> None:
    judgement = judged(*history)

    held = all(check.holds is True for check in judgement.checks if check.decides)
    assert (judgement.decision is Decision.PASS) == held


@given(settled())
def test_a_missing_or_invalid_sample_of_either_arm_never_passes(history: tuple) -> None:
    judgement = judged(*history)
    found = judgement.findings["cases"]["answer"]

    valid = sum(sample["measurement_passed"] for sample in found["samples"])
    if valid < 2 * history[2]:
        assert (judgement.decision, found["status"]) == (Decision.FAIL, Status.INCOMPLETE)
