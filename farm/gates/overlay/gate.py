"""The gate: every case of the sweep under the contract, and the sweep's own lifecycle."""

from collections import defaultdict
from dataclasses import dataclass

from pydantic import JsonValue

from farm.gates.overlay.case import Case, CaseFinding, finding_record, judge_case
from farm.gates.overlay.policy import ArmNames, CasePolicy, OverlayPolicy, read_policy
from farm.gates.overlay.sample import read_sample
from farm.gates.protocol import Judgement
from farm.gates.table import Lifecycle, Row, Table
from farm.model import ArmRole, Check, Decision

_NAMED = 3
"""Failing cases that the summary names."""


class OverlayGate:
    """Contract `overlay-behavior`, version 4: a behaviour verdict that fails closed.

    A case passes when every planned sample of both arms is a valid measurement, every ON sample is correct, the
    case's own blocking comparison (if any) holds, and the sweep kept its deadline and cleaned up. Efficacy is
    computed and shown and decides nothing; a pass claims neither a benefit nor that no resource regressed.
    """

    name = "overlay"
    version = "4"

    def policy(self, options: dict[str, JsonValue], tasks: tuple[str, ...]) -> dict[str, JsonValue]:
        """Check options and fill in the defaults; raise SpecError naming what is wrong."""
        return read_policy(options, tasks).model_dump(mode="json")

    def needed_metrics(self, policy: dict[str, JsonValue]) -> tuple[str, ...]:
        """Name the metrics that the cases read, for planning to look for."""
        return tuple(sorted({case.metric for case in OverlayPolicy.model_validate(policy).cases.values()}))

    def judge(self, table: Table, policy: dict[str, JsonValue]) -> Judgement:
        """Decide pass or fail; what is missing is incomplete, and incomplete fails."""
        rules = OverlayPolicy.model_validate(policy)
        arms = rules.arms or _arms_by_role(table)
        missing = _unmet(table, rules, arms)
        if missing or arms is None:
            return Judgement(
                decision=Decision.FAIL, summary=f"Incomplete: {missing[0].note}.", checks=missing, findings=_contract()
            )
        rows = _by_task_and_arm(table)
        order = {task.id: place for place, task in enumerate(table.plan.tasks)}
        pinned = sorted(rules.cases.items(), key=lambda case: (order.get(case[0], len(order)), case[0]))
        cases = (_case(table, task, case, _Sides(rows[task, arms.on], rows[task, arms.off])) for task, case in pinned)
        findings = [judge_case(case, rules.rules, table.lifecycle) for case in cases]
        return _judgement(findings, table.lifecycle)


def _arms_by_role(table: Table) -> ArmNames | None:
    arms = table.plan.arms
    on = next((arm.name for arm in arms if arm.role is ArmRole.CANDIDATE), None)
    off = next((arm.name for arm in arms if arm.role is ArmRole.INCUMBENT), None)
    return None if on is None or off is None else ArmNames(on=on, off=off)


def _unmet(table: Table, policy: OverlayPolicy, arms: ArmNames | None) -> tuple[Check, ...]:
    """List what the plan itself lacks for this gate."""
    have = set(table.plan.arm_by_name)
    named = () if arms is None else (arms.on, arms.off)
    declared = {metric.name for metric in table.plan.metrics}
    checks = (
        []
        if arms
        else [_absent("arms", "sweep", "the plan has no candidate or no incumbent, and the policy names no arms")]
    )
    checks += [_absent("arms", arm, f"the plan holds no arm {arm!r}") for arm in named if arm not in have]
    checks += [
        _absent("metric", task, f"the plan declares no metric {case.metric!r}, which case {task} needs")
        for task, case in policy.cases.items()
        if case.metric not in declared
    ]
    return tuple(checks)


def _absent(name: str, subject: str, note: str) -> Check:
    return Check(name=name, subject=subject, operator="in plan", threshold=True, observed=False, holds=None, note=note)


@dataclass(frozen=True, slots=True)
class _Sides:
    """The rows of one task under the two arms, in order of trial."""

    on: list[Row]
    off: list[Row]


def _by_task_and_arm(table: Table) -> defaultdict[tuple[str, str], list[Row]]:
    rows: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in sorted(table.rows, key=lambda row: row.trial):
        rows[row.task, row.arm].append(row)
    return rows


def _case(table: Table, task: str, policy: CasePolicy, sides: _Sides) -> Case:
    metric = next(metric for metric in table.plan.metrics if metric.name == policy.metric)
    return Case(
        task=task,
        policy=policy,
        metric=metric,
        planned=policy.planned or table.plan.trials,
        on=tuple(read_sample(row, metric, policy, table.lifecycle) for row in sides.on),
        off=tuple(read_sample(row, metric, policy, table.lifecycle) for row in sides.off),
    )


def _judgement(findings: list[CaseFinding], lifecycle: Lifecycle) -> Judgement:
    checks = (*_lifecycle_checks(lifecycle), *(check for finding in findings for check in finding.checks))
    failed = [finding for finding in findings if not finding.passed]
    return Judgement(
        decision=Decision.FAIL if failed or not findings else Decision.PASS,
        summary=_summary(findings, failed, lifecycle),
        checks=checks,
        findings={**_contract(), "cases": {finding.case.task: finding_record(finding) for finding in findings}},
    )


def _lifecycle_checks(lifecycle: Lifecycle) -> tuple[Check, ...]:
    def never(name: str, *, observed: bool, note: str = "") -> Check:
        return Check(
            name=name, subject="sweep", operator="==", threshold=False, observed=observed, holds=not observed, note=note
        )

    errors = Check(
        name="errors",
        subject="sweep",
        operator="==",
        threshold=0,
        observed=len(lifecycle.errors),
        holds=not lifecycle.errors,
        note=lifecycle.errors[0] if lifecycle.errors else "",
    )
    return (
        never("timed-out", observed=lifecycle.timed_out),
        never("cleanup-incomplete", observed=lifecycle.cleanup_incomplete),
        errors,
    )


def _summary(findings: list[CaseFinding], failed: list[CaseFinding], lifecycle: Lifecycle) -> str:
    if not findings:
        return "Nothing was judged: the sweep has no case."
    if not failed:
        count = "The one case passes" if len(findings) == 1 else f"All {len(findings)} cases pass"
        return f"{count}: every planned sample of both arms is a valid measurement and every ON sample is correct."
    if lifecycle.timed_out:
        return f"The sweep reached its deadline; {len(failed)} of {len(findings)} cases fail."
    names = "; ".join(_why(finding) for finding in failed[:_NAMED])
    more = f"; and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
    return f"{len(failed)} of {len(findings)} cases fail: {names}{more}."


def _why(finding: CaseFinding) -> str:
    failed = [check for check in finding.checks if check.name in finding.failures]
    return f"{finding.case.task} ({', '.join(_shortfall(check) for check in failed) or 'the lifecycle of the sweep'})"


def _shortfall(check: Check) -> str:
    counted = check.operator == "==" and type(check.threshold) is int and check.threshold > 0
    return f"{check.name} {check.observed} of {check.threshold}" if counted else check.name


def _contract() -> dict[str, JsonValue]:
    return {
        "contract": {
            "name": "overlay-behavior",
            "version": 4,
            "comparison_role": "research_only_unless_gated",
            "resource_non_regression": "not_established",
        }
    }
