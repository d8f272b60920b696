"""How often a gate errs, told beside its verdict."""

import random
from dataclasses import replace

import pytest

from farm.gates.paired import PairedGate
from farm.gates.protocol import Basis
from farm.model import Digest, OracleFinding, Pin, canonical_json, parse_record
from farm.reporting.operating import gate_operating
from farm.reporting.render import render
from farm.reporting.report import Report
from farm.reporting.report_input import ReportInput
from farm.reporting.summary import summary_lines
from tests.builders.gates import At, a_plan, a_row
from tests.builders.reports import a_report_input, demo_plan

TASKS = tuple(f"task-{number}" for number in range(10))


def judged_by_paired() -> ReportInput:
    """Gather a sweep of ten tasks whose verdict is by the gate paired."""
    gate, dice = PairedGate(), random.Random(3)  # noqa: S311 (a test's numbers)
    pin = Pin(name=gate.name, version=gate.version, options=gate.policy({}, TASKS))
    plan = a_plan(TASKS, trials=3)
    rows = [
        a_row(At(cell.arm, cell.trial, cell.task), oracle=OracleFinding(correct=dice.random() < 0.5))
        for cell in plan.cells
    ]
    source = a_report_input(plan, rows)
    basis = Basis(source.sweep, Digest.of(canonical_json(source.settlement)), Digest.of(canonical_json(source.cleanup)))
    return replace(source, verdicts=(basis.verdict(pin, gate.judge(source.table, pin.options)),))


def test_false_alarms_power_and_the_least_gain_stand_beside_the_verdict_everywhere() -> None:
    files = render(judged_by_paired())

    report = parse_record(Report, files["report.json"], "report.json")
    (gate,) = report.gates
    assert gate.operating is not None
    assert gate.operating.alike is not None
    assert gate.operating.alike.passes <= 0.05
    sentences = (
        "played sweeps whose arms are alike it passes",
        "The least gain that it could have seen in 80% of sweeps",
    )
    for text in (files["report.html"].decode(), files["report.md"].decode(), "\n".join(summary_lines(report))):
        assert all(sentence in text for sentence in sentences)
    assert "By the gain in correct it passes" in files["report.html"].decode()


@pytest.mark.parametrize("name", ["health", "completeness", "spend"])
def test_a_gate_that_compares_no_arms_has_no_false_promotion_to_tell(name: str) -> None:
    found = gate_operating(judged_by_paired().table, Pin(name=name, version="1"))

    assert found.note == f"Not played: {name} compares no arms, so it promotes none by chance."


def test_of_a_gate_that_cannot_be_played_the_report_says_why() -> None:
    source = a_report_input()

    found = gate_operating(source.table, demo_plan().gates[0])

    assert found.note.startswith("Not played: overlay decides by more than one number of a cell")
    assert found.note in render(source)["report.html"].decode()
    assert gate_operating(source.table, Pin(name="paired", version="0")).note.startswith("Not played: paired")
