"""A few lines for a terminal: the verdict, then each arm."""

from farm.gates.health import HealthStatus
from farm.reporting.operating import operating_words
from farm.reporting.report import ArmLine, GateLine, Report
from farm.reporting.savings import Saving
from farm.reporting.text import count_text, duration_text, money_text, one_line, share_text, value_text

_MOST_CHECKS = 5


def summary_lines(report: Report) -> tuple[str, ...]:
    """Say what the report says in plain lines, without a trailing newline and without colour."""
    lines = [f"warning: {warning}" for warning in report.provenance.warnings]
    lines += [
        f"warning: arm {arm.name} is {arm.health_words}; the cause is undetermined"
        for arm in report.arms
        if arm.health is HealthStatus.UNUSABLE
    ]
    for gate in report.gates:
        lines += _gate_lines(gate)
    if not report.gates:
        lines.append("no verdict: the sweep has no gate")
    width = max((len(arm.name) for arm in report.arms), default=0)
    lines += [_arm_text(arm, width) for arm in report.arms]
    return (*lines, *_noise(report), *_flagged(report))


def _noise(report: Report) -> list[str]:
    """Say what the same arm twice differs by, of right answers and the first metrics."""
    return [
        f"noise floor: {line.pair.candidate} repeats {line.pair.incumbent}, and gains {value_text(line.difference)} in "
        f"{line.metric} (mean of {line.tasks} tasks; at most {value_text(line.largest)} in one)"
        for line in report.noise[:_MOST_CHECKS]
    ]


def _flagged(report: Report) -> list[str]:
    """Name, arm by arm, the tasks on which something was saved and not every answer is right."""
    tasks: dict[str, list[str]] = {}
    for line in report.savings:
        if line.saving is Saving.FAILED:
            tasks.setdefault(line.arm, []).append(line.task)
    return [
        f"{arm}: what it saved on {', '.join(named[:_MOST_CHECKS])}"
        + (f" and {len(named) - _MOST_CHECKS} more tasks" if len(named) > _MOST_CHECKS else "")
        + " is no gain: not every cell of it is right"
        for arm, named in tasks.items()
    ]


def _gate_lines(gate: GateLine) -> list[str]:
    failed = [check for check in gate.checks if check.decides and check.holds is not True]
    lines = [f"{gate.gate} v{gate.version}: {gate.decision.value.upper()}. {one_line(gate.summary, most=500)}"]
    lines += [
        f"  {check.subject}: {check.name} is {value_text(check.observed)}, "
        f"asked {check.operator} {value_text(check.threshold)}" + (f" ({check.note})" if check.note else "")
        for check in failed[:_MOST_CHECKS]
    ]
    if len(failed) > _MOST_CHECKS:
        lines.append(f"  and {len(failed) - _MOST_CHECKS} more checks that do not hold")
    if gate.operating is not None and gate.operating.alike is not None:
        lines += [f"  {words}" for words in operating_words(gate.operating)]
    return lines


def _arm_text(arm: ArmLine, width: int) -> str:
    correct = f"{arm.correct} of {arm.judged} correct ({share_text(arm.correct_low)} to {share_text(arm.correct_high)})"
    parts = [
        f"{arm.measured} of {arm.cells} measured",
        correct if arm.judged else "correct unknown",
        f"median {duration_text(arm.median_duration_s)}",
        f"tool calls {count_text(arm.tool_calls.total)}",
        f"cost {cost_text(arm)}",
    ]
    return f"{arm.name:{width}}  {', '.join(parts)}"


def cost_text(arm: ArmLine) -> str:
    """Say what an arm cost, what of it is unknown, and what of it went to attempts that do not count."""
    if arm.cost.usd is None:
        return money_text(None)
    notes = [f"{money_text(arm.uncounted_usd)} of it in attempts that do not count"] if arm.uncounted_usd else []
    notes += [f"+ {arm.cost.unknown} unknown"] if arm.cost.unknown else []
    return money_text(arm.cost.usd) + (f" ({', '.join(notes)})" if notes else "")
