"""`farm faults`, and its preset run by hand."""

import json
import subprocess
from typing import Any

import pytest

from farm.planning.faults import script
from tests.builders.farm_command import FARM, Desk
from tests.services.provider import serving

FAULT = "pre-contract-evidence-excluded"
PARTS = ("baseline", "governed")
LIMIT_S = 600


def faults(desk: Desk, *words: str) -> tuple[int, dict[str, Any]]:
    """Run it; gives its exit code and what it says to a program."""
    command = (str(FARM), "faults", "--json", *words)
    ran = subprocess.run(command, cwd=desk.here, env=desk.env({}), capture_output=True, timeout=LIMIT_S, check=False)
    assert ran.stdout, ran.stderr.decode()
    return ran.returncode, json.loads(ran.stdout)


@pytest.mark.timeout(LIMIT_S)
def test_the_whole_matrix_passes_and_its_report_is_the_one_that_is_checked_in(desk: Desk) -> None:
    code, told = faults(desk, "--check")
    assert told["differences"] == []
    assert (code, told["decision"], told["runs"]) == (0, "pass", 180)
    assert told["unexpected"] == {}


def test_twenty_runs_of_one_script_go_the_same_way_and_leave_nothing_behind(desk: Desk) -> None:
    code, told = faults(desk, "--only", FAULT, "--trials", "20")
    assert (code, told["unexpected"]) == (0, {})
    assert [
        (told["faults"][FAULT][part]["runs"], len(told["faults"][FAULT][part]["trajectories"])) for part in PARTS
    ] == [
        (20, 1),
        (20, 1),
    ]
    assert (desk.files(), desk.processes()) == (set(), [])


def test_a_cell_that_leaves_replies_of_its_script_unused_fails(desk: Desk) -> None:
    document: Any = script()
    for rule in document["rules"]:
        if rule["name"] == f"{FAULT}.baseline":
            rule["turns"] = rule["turns"][-1:]
    sweep = {"name": "faults", "trials": 1, "preset": {"kind": "faults", "only": [FAULT]}}
    (desk.here / "sweep.yaml").write_text(json.dumps(sweep))
    with serving(document) as provider:
        providers = desk.scratch / "providers.yaml"
        providers.write_text(json.dumps({"scripted": {"wires": ["anthropic"], "url": provider.url}}))
        ended = desk.farm("run", "sweep.yaml", "--json", env={"FARM_PROVIDERS": str(providers)})
    assert ended.code == 1, ended
    (verdict,) = json.loads(ended.out)["verdicts"]
    said = "1 of its script's 3 replies were asked for"
    assert verdict["findings"]["unexpected"] == {f"{FAULT}.baseline.1": [said]}


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--check", "--trials", "20"), "--check"), (("--only", "no-such-fault"), "no-such-fault")],
)
def test_what_can_t_be_asked_for_is_refused(words: tuple[str, ...], said: str, desk: Desk) -> None:
    ended = desk.farm("faults", *words)
    assert ended.code == 2
    (line, *_) = ended.error_lines
    assert said in line
