"""`farm power`, on a sweep file."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from farm.cli.power import command
from farm.errors import SpecError
from tests.builders.farm_command import a_repository

SWEEP = """\
name: night
trials: 2
tasks:
  - {id: one, repository: {path: r}, prompt: Write., oracle: {kind: command, argv: ["true"]}}
  - {id: two, repository: {path: r}, prompt: Write., oracle: {kind: command, argv: ["true"]}}
arms:
  - {name: old, role: incumbent, agent: {kind: command, argv: ["true"]}}
  - {name: new, role: candidate, agent: {kind: command, argv: ["true"]}}
"""


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    (tmp_path / "r").mkdir()
    a_repository(tmp_path / "r", {"README": "Nothing.\n"})
    (tmp_path / "sweep.yaml").write_text(SWEEP + "gates: [{kind: paired}, {kind: health}]\n")
    return tmp_path / "sweep.yaml"


def test_each_effect_has_a_line_and_health_none(sweep: Path) -> None:
    told = CliRunner().invoke(command, [str(sweep), "--plays", "5", "--effect", "0.1", "--effect", "0"])

    lines = told.output.splitlines()
    assert lines[0] == "night: 2 tasks, 2 trials of each, 8 cells"
    assert lines[1] == "gate paired: of 5 played sweeps"
    assert [line.split()[0] for line in lines[2:]] == ["effect", "+0.10", "+0.00"]


def test_two_tasks_can_show_nothing(sweep: Path) -> None:
    told = CliRunner().invoke(command, [str(sweep), "--plays", "5", "--effect", "0.4", "--json"])

    (chances,) = json.loads(told.output)["gates"]["paired"]
    assert (chances["inconclusive"], chances["pass"], chances["played"]) == (1.0, 0.0, 5)


def test_a_sweep_without_a_gate_has_nothing_to_play(sweep: Path) -> None:
    sweep.write_text(SWEEP)
    error = CliRunner().invoke(command, [str(sweep)]).exception

    assert isinstance(error, SpecError)
    assert "names no gate" in str(error)
