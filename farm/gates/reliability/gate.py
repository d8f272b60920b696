"""The gate: runs of three arms, and the protocol's ruling over them."""

from collections.abc import Sequence
from typing import assert_never

from pydantic import JsonValue

from farm.gates.protocol import Judgement
from farm.gates.reliability.findings import tell
from farm.gates.reliability.policy import ReliabilityPolicy, read_policy
from farm.gates.reliability.ruling import Found, Registration, Ruling, rule
from farm.gates.reliability.runs import Runs, read_runs
from farm.gates.reliability.trial import Part
from farm.gates.table import Table
from farm.model import Check, Decision, Preregistration

_DECISIONS = {
    Ruling.PROVEN: Decision.PASS,
    Ruling.HARMFUL: Decision.FAIL,
    Ruling.INCONCLUSIVE: Decision.INCONCLUSIVE,
}
_COUNTED = frozenset({"model-certifies-falsely", "reference-certifies-falsely"})
"""Harm that no missing run can take back."""
_NOT = {">": "<=", "<": ">="}
_MOST_NAMED = 5


class ReliabilityGate:
    """Passes when it is PROVEN that a governor makes claims reliable, fails when it is HARMFUL.

    Every planned run of the three arms is in, whatever it opened or said; one that a fault kept from being measured
    leaves nothing to prove, and only a false certification still shows harm. Harm is looked for first, and one of its
    five signs is enough; a proof needs all of fourteen things, the pre-registration among them.
    """

    name = "reliability"
    version = "1"

    def policy(self, options: dict[str, JsonValue], tasks: tuple[str, ...]) -> dict[str, JsonValue]:  # noqa: ARG002 (the protocol's)
        """Check options and fill in the defaults; raise SpecError naming what is wrong."""
        return read_policy(options).model_dump(mode="json")

    def needed_number(self, policy: dict[str, JsonValue]) -> str:  # noqa: ARG002 (the protocol's)
        """Name what is read besides answers: without claims it would find nothing to rule on."""
        return "governed"

    def judge(self, table: Table, policy: dict[str, JsonValue]) -> Judgement:
        """Rule."""
        rules = ReliabilityPolicy.model_validate(policy)
        absent = [arm for arm in rules.parts.by_arm if arm not in table.plan.arm_by_name]
        if absent:
            return Judgement(
                decision=Decision.INCONCLUSIVE,
                summary=f"Nothing to judge: the plan holds no arm {', '.join(absent)}; see the policy's parts.",
                checks=(),
            )
        runs = read_runs(table, rules.parts)
        found = rule(runs.trials(), _registration(table.plan.preregistration), rules)
        ruling = _ruling(found, runs)
        return Judgement(
            decision=_DECISIONS[ruling],
            summary=_summary(found, ruling, runs),
            checks=(_measured(table, runs, rules), *found.proof, *map(_harmless, found.harm)),
            findings=tell(ruling, found, runs, rules).model_dump(mode="json"),
        )


def _registration(known: Preregistration | None) -> Registration:
    if known is None:
        return Registration()
    return Registration(is_locked=known.is_locked, is_committed=known.is_committed, is_published=known.is_published)


def _ruling(found: Found, runs: Runs) -> Ruling:
    if not runs.missing:
        return found.ruling
    is_harmful = any(check.holds for check in found.harm if check.name in _COUNTED)
    return Ruling.HARMFUL if is_harmful else Ruling.INCONCLUSIVE


def _measured(table: Table, runs: Runs, rules: ReliabilityPolicy) -> Check:
    arms = rules.parts.by_arm.keys()
    planned = sum(row.arm in arms for row in table.rows)
    return Check(
        name="runs-measured",
        subject="sweep",
        operator="==",
        threshold=planned,
        observed=planned - len(runs.missing),
        holds=None if runs.missing else True,
        note=_named(runs.missing),
    )


def _harmless(check: Check) -> Check:
    """Turn a sign of harm into the check that it is not there."""
    return check.model_copy(
        update={"name": f"no-{check.name}", "operator": _NOT[check.operator], "holds": not check.holds}
    )


def _summary(found: Found, ruling: Ruling, runs: Runs) -> str:
    told = _why(found, ruling)
    missing = f"; {len(runs.missing)} runs were not measured" if runs.missing else ""
    shares = {part: found.parts[part].false_success for part in (Part.BASELINE, Part.MODEL)}
    before, after = (f"{one.count} of {one.of}" for one in shares.values())
    return f"{ruling}: {told}{missing}. False successes: {before} without a governor, {after} with one."


def _why(found: Found, ruling: Ruling) -> str:
    match ruling:
        case Ruling.PROVEN:
            return "all that a proof needs is there"
        case Ruling.HARMFUL:
            return ", ".join(check.name for check in found.harm if check.holds)
        case Ruling.INCONCLUSIVE:
            lacking = [check.name for check in found.proof if not check.holds]
            return f"a proof lacks {', '.join(lacking)}" if lacking else "runs are missing"
        case _:
            assert_never(ruling)


def _named(cells: Sequence[str]) -> str:
    if not cells:
        return ""
    more = f" and {len(cells) - _MOST_NAMED} more" if len(cells) > _MOST_NAMED else ""
    return f"not measured: {', '.join(cells[:_MOST_NAMED])}{more}"
