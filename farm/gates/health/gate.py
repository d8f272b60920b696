"""The gate: every arm of the sweep, candidates, controls and comparators included."""

from collections.abc import Mapping
from typing import assert_never

from pydantic import JsonValue, ValidationError

from farm.errors import SpecError
from farm.gates.health.arm_health import ArmHealth, HealthStatus, arm_health
from farm.gates.protocol import Judgement
from farm.gates.table import Row, Table
from farm.model import Check, Decision, Positive
from farm.model.base import Value


class HealthPolicy(Value):
    """The gate's numbers."""

    least_admissible: Positive = 1
    """Fresh cells of an arm that must not have failed, once one has."""


class HealthGate:
    """Fails where the measuring of an arm does not work; it says nothing of answers, and nothing of the cause.

    Its verdict holds back neither the report nor another gate's verdict.
    """

    name = "health"
    version = "1"

    def policy(self, options: dict[str, JsonValue], tasks: tuple[str, ...]) -> dict[str, JsonValue]:  # noqa: ARG002 (the protocol's)
        """Check options and fill in the defaults; raise SpecError naming what is wrong."""
        try:
            return HealthPolicy.model_validate(options).model_dump(mode="json")
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in problem["loc"])
            raise SpecError(f"gate health: {where}: {problem['msg']}; its one option is least_admissible") from error

    def judge(self, table: Table, policy: dict[str, JsonValue]) -> Judgement:
        """Fail for an unusable arm; where nothing fresh was attempted of any arm there is nothing to say."""
        least = HealthPolicy.model_validate(policy).least_admissible
        rows: dict[str, list[Row]] = {arm.name: [] for arm in table.plan.arms}
        for row in table.rows:
            rows[row.arm].append(row)
        arms = {arm: arm_health(of, least) for arm, of in rows.items()}
        return Judgement(
            decision=_decision(arms),
            summary=_summary(arms),
            checks=tuple(_check(arm, health, least) for arm, health in arms.items()),
            findings={"arms": {arm: _record(health) for arm, health in arms.items()}},
        )


def _decision(arms: Mapping[str, ArmHealth]) -> Decision:
    found = {health.status for health in arms.values()}
    if HealthStatus.UNUSABLE in found:
        return Decision.FAIL
    return Decision.INCONCLUSIVE if found <= {HealthStatus.UNKNOWN} else Decision.PASS


def _summary(arms: Mapping[str, ArmHealth]) -> str:
    unusable = [arm for arm, health in arms.items() if health.status is HealthStatus.UNUSABLE]
    if unusable:
        return f"Unusable: {', '.join(unusable)}. The cause is undetermined: the agent, a provider, a task or the farm."
    counts = (
        f"{sum(health.status is status for health in arms.values())} {status}"
        for status in HealthStatus
        if any(health.status is status for health in arms.values())
    )
    return f"No arm is unusable: {', '.join(counts)}. It says nothing of answers."


def _check(arm: str, health: ArmHealth, least: int) -> Check:
    match health.status:
        case HealthStatus.UNKNOWN:
            holds = None
        case HealthStatus.OBSERVED_OK | HealthStatus.DEGRADED:
            holds = True
        case HealthStatus.UNUSABLE:
            holds = False
        case _:
            assert_never(health.status)
    return Check(
        name="admissible-cells",
        subject=arm,
        operator=">=",
        threshold=least,
        observed=None if holds is None else health.admissible,
        holds=holds,
        decides=holds is not None,
        note=health.words,
    )


def _record(health: ArmHealth) -> JsonValue:
    return {
        "status": health.status.value,
        "fresh": health.fresh,
        "reused": health.reused,
        "admissible": health.admissible,
        "execution_failures": health.execution_failures,
        "evidence_failures": health.evidence_failures,
        "kinds": {kind.value: count for kind, count in health.kinds.items()},
    }
