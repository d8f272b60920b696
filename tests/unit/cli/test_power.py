"""`farm power`, on a sweep file."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from farm.adapters.files import FileStore
from farm.cli.power import command
from farm.errors import SpecError
from tests.builders.farm_command import a_repository
from tests.builders.gates import OFF, ON
from tests.builders.sealed import a_sealed_sweep

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
    assert [line.split()[0] for line in lines[2:]] == ["effect", "+0.1", "+0", "cost"]


def test_two_tasks_can_show_nothing(sweep: Path) -> None:
    told = CliRunner().invoke(command, [str(sweep), "--plays", "5", "--effect", "0.4", "--json"])

    (chances,) = json.loads(told.output)["gates"]["paired"]
    assert (chances["inconclusive"], chances["pass"], chances["played"]) == (1.0, 0.0, 5)


def test_a_sweep_without_a_gate_has_nothing_to_play(sweep: Path) -> None:
    sweep.write_text(SWEEP)
    error = CliRunner().invoke(command, [str(sweep)]).exception

    assert isinstance(error, SpecError)
    assert "names no gate" in str(error)


METRIC = """\
metrics: [{name: bash_tool_calls, source: tool_calls, key: Bash}]
gates: [{kind: paired, metric: bash_tool_calls}, {kind: completeness}]
"""


@pytest.fixture
def measured(sweep: Path) -> Path:
    """Write the sweep file of a sweep that was sealed before: a task, two arms, and a metric that a gate reads."""
    text = (
        SWEEP.replace("{id: one", "{id: answer")
        .replace("name: old", f"name: {OFF}")
        .replace("name: new", f"name: {ON}")
    )
    sweep.write_text(text + METRIC)
    return sweep


def test_a_metric_is_played_and_priced_by_an_earlier_sweep_and_drawn(tmp_path: Path, measured: Path) -> None:
    earlier = a_sealed_sweep(FileStore(tmp_path / "store"))
    where = ["--prior", earlier, "--store", str(tmp_path / "store"), "--plot", str(tmp_path / "power.svg")]

    told = CliRunner().invoke(command, [str(measured), "--plays", "5", "--json", *where])

    assert told.exception is None
    document = json.loads(told.output)
    assert [chances["effect"] for chances in document["gates"]["paired"]] == [0, 0.25, 0.5, 1, 1.5]
    assert document["cost"]["runs"] == 8
    drawn = (tmp_path / "power.svg").read_text()
    assert drawn.startswith("<?xml")
    assert "gain of the candidates" in drawn
    assert "#0708" not in drawn, "a placeholder of the page's colours"


def test_a_metric_without_an_earlier_sweep_is_refused_and_the_way_out_is_named(measured: Path) -> None:
    error = CliRunner().invoke(command, [str(measured), "--plays", "5"]).exception

    assert isinstance(error, SpecError)
    assert "name one with --prior" in str(error)
