"""The fault matrix's report: nothing in it changes from one machine, or one day, to the next."""

import difflib
import json
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path

from pydantic import JsonValue

from farm.gates.mechanism.told import FaultTold, MatrixTold, Told
from farm.model import Check, Decision, Terminal, Verdict
from farm.model.base import Value

JSON_NAME, MARKDOWN_NAME = "report.json", "report.md"
SCOPE = (
    "The model's part is scripted, word by word. What is shown is that the governor, in the real farm, does not let a "
    "false claim by and does not stand in the way of right work. Nothing is shown of any model, nor of what contracts "
    "a model would write."
)
_SHORT = 12


class MatrixReport(Value):
    """All of it."""

    scope: str = SCOPE
    runs: int
    decision: Decision
    summary: str
    checks: tuple[Check, ...]
    faults: dict[str, FaultTold]
    reduction: float
    unexpected: dict[str, tuple[str, ...]]

    @property
    def json_text(self) -> str:
        return json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"

    @property
    def markdown(self) -> str:
        return "\n".join(_markdown(self)) + "\n"


def matrix_report(verdict: Verdict) -> MatrixReport:
    """Take what the gate found."""
    told = MatrixTold.model_validate(verdict.findings)
    return MatrixReport(
        runs=sum(part.runs for fault in told.faults.values() for part in (fault.baseline, fault.governed)),
        decision=verdict.decision,
        summary=verdict.summary,
        checks=verdict.checks,
        faults=told.faults,
        reduction=told.reduction,
        unexpected=told.unexpected,
    )


def differences(report: MatrixReport) -> list[str]:
    """Say by lines in what a report differs from the one that is checked in; none where it is the same."""
    kept = Path(str(resources.files("farm"))) / "presets" / "faults"
    lines: list[str] = []
    for name, text in ((JSON_NAME, report.json_text), (MARKDOWN_NAME, report.markdown)):
        file = kept / name
        before = file.read_text("utf-8") if file.exists() else ""
        made = difflib.unified_diff(before.splitlines(), text.splitlines(), f"checked in/{name}", f"made/{name}", n=1)
        lines += (line.rstrip("\n") for line in made)
    return lines


def outcome(told: Told) -> str:
    """Say in words what the runs of one fault in one arm came to."""
    return "; ".join(_end(terminal, told) for terminal in told.terminals)


def check_line(check: Check) -> str:
    """Say what one gate asked and saw."""
    return f"{check.name}: {_number(check.observed)} {check.operator} {_number(check.threshold)}"


def _end(terminal: Terminal, told: Told) -> str:
    count = told.terminals[terminal]
    if terminal is Terminal.NONE:
        return _claims(told)
    attempts = "/".join(map(str, told.attempts))
    wrong = (
        f", {told.false_certifications} falsely" if terminal is Terminal.CERTIFIED and told.false_certifications else ""
    )
    return f"{terminal} {count} of {told.runs}, at attempt {attempts}{wrong}"


def _claims(told: Told) -> str:
    if told.false_completions:
        return f"false completion {told.false_completions} of {told.runs}"
    return f"true completion {told.claimed} of {told.runs}"


def _markdown(report: MatrixReport) -> Iterator[str]:
    yield "# The fault matrix"
    yield ""
    yield f"{report.decision.upper()}: {report.summary} {report.runs} runs."
    yield ""
    yield report.scope
    yield ""
    yield "| fault | without a governor | with one | replies | as expected | ways taken |"
    yield "|---|---|---|---|---|---|"
    for name, fault in report.faults.items():
        parts = (fault.baseline, fault.governed)
        replies = " / ".join(_several(part.replies) for part in parts)
        expected = " / ".join(f"{part.as_expected} of {part.runs}" for part in parts)
        ways = " / ".join(_several([way[:_SHORT] for way in part.trajectories]) for part in parts)
        yield f"| {name} | {outcome(fault.baseline)} | {outcome(fault.governed)} | {replies} | {expected} | {ways} |"
    yield ""
    yield "| gate | seen | asked | holds |"
    yield "|---|---|---|---|"
    for check in report.checks:
        asked = f"{check.operator} {_number(check.threshold)}"
        yield f"| {check.name} | {_number(check.observed)} | {asked} | {_HOLDS[check.holds]} |"
    for cell, why in report.unexpected.items():
        yield f"\n`{cell}`: {'; '.join(why)}."


_HOLDS = {True: "yes", False: "**no**", None: "unknown"}


def _several(values: Iterable[object]) -> str:
    return ", ".join(map(str, values)) or "none"


def _number(value: JsonValue) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
