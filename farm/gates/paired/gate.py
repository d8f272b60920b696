"""The gate: each pair's test on tasks, all of them together under one alpha."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from pydantic import JsonValue

from farm.gates.exact import number
from farm.gates.paired.gains import Gains, gains
from farm.gates.paired.noise import noise
from farm.gates.paired.policy import CORRECT, PairedPolicy, Question, read_policy
from farm.gates.paired.rule import Ruling, rule_on, together
from farm.gates.pairs import ArmPair, pairs_by_role, same_arms
from farm.gates.protocol import Judgement
from farm.gates.table import Table
from farm.model import Check, CloseReason, Decision
from farm.stats.bootstrap import Pcg64, cluster_bootstrap
from farm.stats.sign_flip import sign_flip


class PairedGate:
    """Passes when every candidate shows what is asked, fails when one is shown to be worse, else is inconclusive.

    A candidate's gain is its mean over tasks, each weighing the same, of its runs' difference to the incumbent's runs
    of the same task and trial. It is held against the margin by the sign flip over tasks, two-sided, with Holm's
    method over the pairs. A sweep that did not run to its end, too few measured pairs, or controls that differ decide
    nothing.
    """

    name = "paired"
    version = "1"

    def policy(self, options: dict[str, JsonValue], tasks: tuple[str, ...]) -> dict[str, JsonValue]:  # noqa: ARG002 (the protocol's)
        """Check options and fill in the defaults; raise SpecError naming what is wrong."""
        return read_policy(options).model_dump(mode="json")

    def needed_metrics(self, policy: dict[str, JsonValue]) -> tuple[str, ...]:
        """Name the metric that is compared, for planning to look for."""
        metric = PairedPolicy.model_validate(policy).metric
        return () if metric == CORRECT else (metric,)

    def judge(self, table: Table, policy: dict[str, JsonValue]) -> Judgement:
        """Decide each pair, and all of them."""
        rules = PairedPolicy.model_validate(policy)
        pairs = rules.pairs or pairs_by_role(table.plan)
        unmet = _unmet(table, pairs, rules)
        if unmet:
            return Judgement(decision=Decision.INCONCLUSIVE, summary=f"Nothing to judge: {unmet}.", checks=())
        found = [gains(table, pair, rules.metric) for pair in pairs]
        rulings = rule_on([tuple(one.by_task.values()) for one in found], rules)
        control = () if rules.control is None else _control_checks(table, rules.control, rules)
        common = (_complete(table), *control)
        is_sound = all(check.holds for check in common)
        compared = map(_Compared, pairs, found, rulings)
        decided = [_decided(one, rules, is_sound=is_sound) for one in compared]
        return Judgement(
            decision=together([one.decision for one in decided]),
            summary=_summary(decided, common),
            checks=(*common, *(check for one in decided for check in one.checks)),
            findings={"pairs": [one.record for one in decided]} | _noise(table, rules),
        )


@dataclass(frozen=True, slots=True)
class _Compared:
    pair: ArmPair
    gains: Gains
    ruling: Ruling


@dataclass(frozen=True, slots=True)
class _Decided:
    pair: ArmPair
    decision: Decision
    checks: tuple[Check, ...]
    record: JsonValue
    told: str


def _unmet(table: Table, pairs: Sequence[ArmPair], rules: PairedPolicy) -> str | None:
    """Say what the plan lacks for this gate."""
    if not pairs:
        return "the policy names no pairs, and the plan has no candidate or does not say which incumbent is whose"
    named = (
        arm for pair in (*pairs, *((rules.control,) if rules.control else ())) for arm in pair.model_dump().values()
    )
    unknown = next((arm for arm in named if arm not in table.plan.arm_by_name), None)
    if unknown is not None:
        return f"the plan holds no arm {unknown!r}"
    if rules.metric != CORRECT and rules.metric not in {metric.name for metric in table.plan.metrics}:
        return f"the plan declares no metric {rules.metric!r}"
    return None


def _complete(table: Table) -> Check:
    close = table.lifecycle.close
    is_complete = close is CloseReason.COMPLETE
    return Check(
        name="sweep-complete",
        subject="sweep",
        operator="==",
        threshold=CloseReason.COMPLETE.value,
        observed=close.value,
        holds=True if is_complete else None,
    )


def _noise(table: Table, rules: PairedPolicy) -> dict[str, JsonValue]:
    """Tell what the plan's own controls differ by; it decides nothing."""
    found = [noise(table, pair, rules.metric, rules.seed) for pair in same_arms(table.plan)]
    return {"noise": [one.model_dump(mode="json") for one in found]} if found else {}


def _control_checks(table: Table, control: ArmPair, rules: PairedPolicy) -> tuple[Check, ...]:
    """Ask the test of two arms that are the same; their difference is what noise alone makes."""
    found = gains(table, control, rules.metric)
    p_value = sign_flip(list(found.by_task.values()), rules.seed).p_value
    noise = None if found.mean is None else number(found.mean)
    alike = Check(
        name="controls-alike",
        subject=str(control),
        operator=">",
        threshold=rules.alpha,
        observed=p_value,
        holds=True if p_value > rules.alpha else None,
        note=f"their difference is {noise}",
    )
    return (_coverage(control, found, rules), alike)


def _coverage(pair: ArmPair, found: Gains, rules: PairedPolicy) -> Check:
    coverage = found.coverage
    missing = ", ".join(f"{count} {why}" for why, count in found.missing.items())
    return Check(
        name="coverage",
        subject=str(pair),
        operator=">=",
        threshold=rules.least_coverage,
        observed=None if coverage is None else number(coverage),
        holds=True if coverage is not None and coverage >= Fraction(repr(rules.least_coverage)) else None,
        note=f"{found.measured} of {found.planned} pairs of runs measured" + (f"; {missing}" if missing else ""),
    )


def _decided(one: _Compared, rules: PairedPolicy, *, is_sound: bool) -> _Decided:
    gain, coverage = one.gains.mean, _coverage(one.pair, one.gains, rules)
    decision = one.ruling.decision if is_sound and coverage.holds else Decision.INCONCLUSIVE
    is_worse = decision is Decision.FAIL
    p_value = one.ruling.worse_holm if is_worse else one.ruling.better_holm
    holds = {Decision.PASS: True, Decision.FAIL: False, Decision.INCONCLUSIVE: None}[decision]
    told = None if gain is None else number(gain)

    bound = number(rules.floor if is_worse else rules.bound)
    checks = (
        coverage,
        Check(name="gain", subject=str(one.pair), operator=">", threshold=bound, observed=told, holds=holds),
        Check(
            name="sign-flip-worse" if is_worse else "sign-flip",
            subject=str(one.pair),
            operator="<=",
            threshold=rules.alpha,
            observed=p_value,
            holds=True if p_value <= rules.alpha else None,
        ),
    )
    words = f"{one.pair}: {_WORDS[rules.question, decision]}"
    words += "" if told is None else f" (gain {told:+.4g}, p {p_value:.4g})"
    return _Decided(one.pair, decision, checks, _record(one, decision, rules), words)


def _record(one: _Compared, decision: Decision, rules: PairedPolicy) -> JsonValue:
    gain = one.gains.mean
    drawn = cluster_bootstrap([float(each) for each in one.gains.by_task.values()], Pcg64(rules.seed))
    return {
        "pair": one.pair.model_dump(mode="json"),
        "decision": decision.value,
        "gain": None if gain is None else number(gain),
        "interval": None if drawn is None else [drawn.interval.low, drawn.interval.high],
        "p_value": one.ruling.better.p_value,
        "p_value_holm": one.ruling.better_holm,
        "p_value_worse_holm": one.ruling.worse_holm,
        "tasks": one.ruling.better.tasks,
        "by_task": {task: number(each) for task, each in one.gains.by_task.items()},
    }


_WORDS = {
    (Question.SUPERIORITY, Decision.PASS): "better",
    (Question.SUPERIORITY, Decision.FAIL): "worse",
    (Question.SUPERIORITY, Decision.INCONCLUSIVE): "not shown to be better",
    (Question.NON_INFERIORITY, Decision.PASS): "not worse by the margin",
    (Question.NON_INFERIORITY, Decision.FAIL): "worse by more than the margin",
    (Question.NON_INFERIORITY, Decision.INCONCLUSIVE): "may be worse by the margin",
}


def _summary(decided: Sequence[_Decided], common: Sequence[Check]) -> str:
    broken = next((check for check in common if not check.holds), None)
    before = "" if broken is None else f"Nothing is decided ({broken.name}: {broken.observed}). "
    return before + "; ".join(one.told for one in decided) + "."
