"""The gate: each candidate against its incumbent, by one of the benchmark's two rules."""

from collections import defaultdict
from collections.abc import Sequence
from typing import assert_never

from pydantic import JsonValue

from farm.gates.pairs import ArmPair, pairs_by_role
from farm.gates.promotion import implementation, review
from farm.gates.promotion.aggregate import Aggregate, aggregate
from farm.gates.promotion.implementation import ImplementationRuling
from farm.gates.promotion.policy import ImplementationPolicy, Policy, ReviewPolicy, read_policy
from farm.gates.promotion.review import ReviewRuling
from farm.gates.promotion.ruling import EVIDENCE, Choice, Contest, Sweep, Tried
from farm.gates.protocol import Judgement
from farm.gates.table import Row, Table
from farm.model import Check, Decision

Ruling = ImplementationRuling | ReviewRuling


class PromotionGate:
    """Passes when every candidate is to take its incumbent's place, and fails when an incumbent stays.

    Where the evidence does not suffice it is inconclusive. The rule is the workflow benchmark's; its decisions, with
    all numbers that they are made of, are the findings. Nothing is rounded before it decides.
    """

    name = "promotion"
    version = "1"

    def policy(self, options: dict[str, JsonValue], tasks: tuple[str, ...]) -> dict[str, JsonValue]:  # noqa: ARG002 (the protocol's)
        """Check options and fill in the defaults; raise SpecError naming what is wrong."""
        return read_policy(options).model_dump(mode="json")

    def needed_number(self, policy: dict[str, JsonValue]) -> str:
        """Name what is compared besides right and wrong answers."""
        rules = read_policy(policy)
        return rules.metric.value if isinstance(rules, ImplementationPolicy) else review.METRIC

    def judge(self, table: Table, policy: dict[str, JsonValue]) -> Judgement:
        """Decide each pair, and all of them."""
        rules = read_policy(policy)
        pairs = rules.pairs or pairs_by_role(table.plan)
        unmet = _unmet(table, pairs)
        if unmet is not None:
            return Judgement(decision=Decision.INCONCLUSIVE, summary=f"Nothing to judge: {unmet}.", checks=())
        by_arm = _by_arm(table)
        sweeps = [_sweep(table, by_arm, pair) for pair in pairs]
        rulings = [
            rule_on(_contests(table, by_arm, pair), rules, sweep) for pair, sweep in zip(pairs, sweeps, strict=True)
        ]
        return Judgement(
            decision=_together([one.decision.decision for one in rulings]),
            summary=f"{'; '.join(map(_told, rulings))}.",
            checks=tuple(_check(one, tried) for one in rulings for tried in one.tried),
            findings={
                "work": rules.work,
                "model": _only({sweep.model for sweep in sweeps}),
                "decisions": [one.decision.model_dump(mode="json", by_alias=True) for one in rulings],
                "rulings": [_record(one) for one in rulings],
            },
        )


ByArm = dict[str, dict[str, list[Row]]]
"""Rows by their arm, then by their task."""


def _only(models: set[str | None]) -> str | None:
    return next(iter(models)) if len(models) == 1 else None


def _by_arm(table: Table) -> ByArm:
    by_arm: ByArm = {arm.name: defaultdict(list) for arm in table.plan.arms}
    for row in table.rows:
        by_arm[row.arm][row.task].append(row)
    return by_arm


def _unmet(table: Table, pairs: Sequence[ArmPair]) -> str | None:
    """Say what the plan lacks for this gate."""
    if not pairs:
        return "the policy names no pairs, and the plan has no candidate or does not say which incumbent is whose"
    named = (arm for pair in pairs for arm in (pair.candidate, pair.incumbent))
    unknown = next((arm for arm in named if arm not in table.plan.arm_by_name), None)
    return None if unknown is None else f"the plan holds no arm {unknown!r}"


def _contests(table: Table, by_arm: ByArm, pair: ArmPair) -> list[Contest]:
    return [
        Contest(
            task=task.id,
            incumbent=_aggregate(table, by_arm, task.id, pair.incumbent),
            candidate=_aggregate(table, by_arm, task.id, pair.candidate),
        )
        for task in table.plan.tasks
    ]


def _sweep(table: Table, by_arm: ByArm, pair: ArmPair) -> Sweep:
    return Sweep(
        candidate=pair.candidate,
        incumbent=pair.incumbent,
        model=_only({_model(table, by_arm, arm) for arm in (pair.candidate, pair.incumbent)}),
        close=table.lifecycle.close,
    )


def rule_on(contests: Sequence[Contest], rules: Policy, sweep: Sweep) -> Ruling:
    """Decide one pair by the rule for the policy's work."""
    match rules:
        case ImplementationPolicy():
            return implementation.rule_on(contests, rules, sweep)
        case ReviewPolicy():
            return review.rule_on(contests, rules, sweep)
        case _:
            assert_never(rules)


def _aggregate(table: Table, by_arm: ByArm, task: str, arm: str) -> Aggregate | None:
    rows = by_arm[arm].get(task)
    return None if rows is None else aggregate(rows, table.plan.task_by_name[task])


def _model(table: Table, by_arm: ByArm, arm: str) -> str | None:
    """Give the model that the arm pins, else the one that every session of it names."""
    pinned = table.plan.arm_by_name[arm].agent.options.get("model")
    if isinstance(pinned, str):
        return pinned
    named = {session.model for rows in by_arm[arm].values() for row in rows for session in row.sessions}
    return named.pop() if len(named) == 1 else None


def _together(choices: Sequence[Choice]) -> Decision:
    """Decide for the whole change: an arm that is not to be promoted holds back the others."""
    if Choice.KEEP in choices:
        return Decision.FAIL
    return Decision.INCONCLUSIVE if Choice.INSUFFICIENT in choices else Decision.PASS


_HOLDS = {Choice.PROMOTE: True, Choice.KEEP: False, Choice.INSUFFICIENT: None}
_WORDS = {
    Choice.PROMOTE: "promote",
    Choice.KEEP: "keep the incumbent",
    Choice.INSUFFICIENT: "insufficient evidence",
}


def _pair(ruling: Ruling) -> str:
    return f"{ruling.decision.candidate_arm} against {ruling.decision.incumbent_arm}"


def _told(ruling: Ruling) -> str:
    first = next((one.words for one in ruling.tried if not one.is_met and one.rule is ruling.rule), None)
    warning = "; the metric may lack what sub-agents spend" if ruling.is_main_loop_only else ""
    return f"{_pair(ruling)}: {_WORDS[ruling.decision.decision]} ({first or ruling.rule}{warning})"


def _check(ruling: Ruling, tried: Tried) -> Check:
    lost = None if tried.rule in EVIDENCE else False
    return Check(
        name=tried.rule,
        subject=_pair(ruling) if tried.task is None else f"{tried.task}: {_pair(ruling)}",
        operator=tried.operator,
        threshold=tried.threshold,
        observed=tried.observed,
        holds=True if tried.is_met else lost,
    )


def _record(ruling: Ruling) -> dict[str, JsonValue]:
    return {
        "pair": _pair(ruling),
        "decision": ruling.decision.decision.value,
        "rule": ruling.rule.value,
        "broken": [{"rule": one.rule.value, "task": one.task} for one in ruling.tried if not one.is_met],
        **ruling.told,
    }
