"""Laws of the promotion gate's decisions, over any aggregates."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from farm.gates.promotion import implementation, review
from farm.gates.promotion.aggregate import Aggregate
from farm.gates.promotion.decisions import ImplementationDecision, ReviewDecision
from farm.gates.promotion.implementation import ImplementationRuling
from farm.gates.promotion.policy import ImplementationPolicy, ReviewPolicy
from farm.gates.promotion.review import ReviewRuling
from farm.gates.promotion.ruling import EVIDENCE, Choice, Contest, Sweep
from farm.model import CloseReason
from tests.builders.promotion import an_aggregate

SWEEP = Sweep("on", "off", "model-a", CloseReason.COMPLETE)
SHARES = st.none() | st.integers(0, 1000).map(lambda thousandth: thousandth / 1000)
FLAGS = st.none() | st.booleans()


@st.composite
def aggregates(draw: st.DrawFn) -> Aggregate:
    valid = draw(st.integers(0, 4))
    unused = draw(st.integers(0, 1))
    claims = ("verdict_correct", "clean_control", "clean_pass")
    said: dict[str, Any] = {f"review_{name}": draw(FLAGS) for name in claims}
    return an_aggregate(
        valid,
        draw(st.integers(0, 1)),
        draw(st.integers(0, valid)),
        error_kinds={"skill-not-invoked": unused} if unused else {},
        cost_usd=draw(st.none() | st.integers(0, 300).map(lambda cents: cents / 100)),
        review_weighted_f1=draw(SHARES),
        review_blocker_recall=draw(SHARES),
        review_false_positives=draw(st.none() | st.integers(0, 6).map(lambda halves: halves / 2)),
        **said,
    )


ARMS = st.tuples(aggregates(), st.none() | aggregates())
CONTESTS = st.lists(ARMS, max_size=4).map(
    lambda tasks: [Contest(f"task-{number}", *arms) for number, arms in enumerate(tasks)]
)


def implemented(contests: list[Contest]) -> ImplementationRuling:
    return implementation.rule_on(contests, ImplementationPolicy(), SWEEP)


def reviewed(contests: list[Contest]) -> ReviewRuling:
    return review.rule_on(contests, ReviewPolicy(), SWEEP)


@given(CONTESTS)
def test_a_decision_comes_out_of_its_own_record_again(contests: list[Contest]) -> None:
    """Written as JSON, read back, and decided from what was read."""
    for made, kind, again in (
        (implemented(contests).decision, ImplementationDecision, implemented),
        (reviewed(contests).decision, ReviewDecision, reviewed),
    ):
        read = kind.model_validate_json(made.model_dump_json(by_alias=True))
        once_more = again([Contest(task.task, task.incumbent, task.candidate) for task in read.tasks]).decision

        assert read == made
        both = (one.candidate is not None for one in contests)
        assert once_more.model_copy(update={"reasons": ()}) == made.model_copy(update={"reasons": ()}) or not all(both)


@given(CONTESTS)
def test_nothing_is_promoted_over_a_broken_rule(contests: list[Contest]) -> None:
    for ruling in (implemented(contests), reviewed(contests)):
        broken = {one.rule for one in ruling.tried if not one.is_met}
        choice = ruling.decision.decision

        assert (choice is Choice.INSUFFICIENT) == bool(broken & EVIDENCE)
        assert choice is not Choice.PROMOTE or not broken


@given(CONTESTS)
def test_a_promoted_candidate_lost_no_run_that_the_incumbent_had(contests: list[Contest]) -> None:
    ruling = implemented(contests)
    if ruling.decision.decision is not Choice.PROMOTE:
        return
    for task in ruling.decision.tasks:
        assert task.candidate.resolved >= task.incumbent.resolved
        assert task.incumbent.valid_runs == task.candidate.valid_runs >= 3


@given(CONTESTS, st.randoms())
def test_the_order_of_tasks_decides_nothing(contests: list[Contest], random: Any) -> None:
    shuffled = random.sample(contests, len(contests))

    for made in (implemented, reviewed):
        one, other = made(contests), made(shuffled)
        assert (one.decision.decision, one.rule) == (other.decision.decision, other.rule)


@given(st.lists(st.tuples(aggregates(), aggregates()), min_size=1, max_size=3))
def test_dollars_and_cents_decide_alike(arms: list[tuple[Aggregate, Aggregate]]) -> None:
    def in_cents(one: Aggregate) -> Aggregate:
        cost = None if one.cost_usd is None else round(one.cost_usd * 100)
        return one.model_copy(update={"cost_usd": cost})

    dollars = implemented([Contest(f"task-{number}", *both) for number, both in enumerate(arms)])
    cents = implemented([Contest(f"task-{number}", *map(in_cents, both)) for number, both in enumerate(arms)])

    assert (dollars.decision.decision, dollars.rule) == (cents.decision.decision, cents.rule)
    assert dollars.decision.median_improvement_pct == cents.decision.median_improvement_pct


@given(st.lists(st.tuples(aggregates(), aggregates()), min_size=1, max_size=3), st.sampled_from(CloseReason))
def test_a_sweep_that_was_cut_short_authorises_nothing(
    arms: list[tuple[Aggregate, Aggregate]], close: CloseReason
) -> None:
    contests = [Contest(f"task-{number}", *both) for number, both in enumerate(arms)]
    sweep = Sweep("on", "off", "model-a", close)
    decision = implementation.rule_on(contests, ImplementationPolicy(), sweep).decision

    assert close is CloseReason.COMPLETE or decision.decision is Choice.INSUFFICIENT
