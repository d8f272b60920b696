"""The preset `faults`: its nine tasks, its two arms, and the script that the provider answers by."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from farm.errors import SpecError
from farm.model import ArmRole, Terminal
from farm.planning.faults import CONTRACT_PATH, VERIFIERS, Fault, known_faults, script
from tests.builders.fault_matrix import a_spec
from tests.builders.worker.oracles import Room
from worker.governor import telling
from worker.governor.contract import Bounds, read_contract
from worker.oracles.files import FilesOracle
from worker.programs.governed import GovernedProgram
from worker.provider.script import Script

FAULTS = known_faults()
BY_FILES = [fault for fault in FAULTS if fault.oracle.kind == "files"]
each = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)


def test_there_are_nine_of_which_one_is_no_fault_and_one_can_t_be_solved() -> None:
    assert len(FAULTS) == 9
    assert [fault.id for fault in FAULTS if fault.baseline.expected.oracle] == ["already-correct-fast-path"]
    assert [fault.id for fault in FAULTS if not fault.solvable] == ["human-judgment-abstention"]


def test_seven_end_certified_one_exhausted_and_one_abstained() -> None:
    ends = [fault.governed.expected.terminal for fault in FAULTS]
    assert [ends.count(one) for one in (Terminal.CERTIFIED, Terminal.EXHAUSTED, Terminal.ABSTAINED)] == [7, 1, 1]


def test_without_a_governor_every_run_says_that_it_is_done() -> None:
    assert all(fault.baseline.expected.claims for fault in FAULTS)


@each
def test_its_contract_is_one_that_the_governor_opens(fault: Fault) -> None:
    bounds = Bounds(profiles=tuple(VERIFIERS))
    assert read_contract(json.dumps(fault.contract).encode(), bounds).attempts == 3


@pytest.mark.parametrize("fault", BY_FILES, ids=lambda fault: fault.id)
def test_its_oracle_says_of_an_untouched_workspace_whether_all_is_right_already(fault: Fault, tmp_path: Path) -> None:
    (task,) = (task for task in a_spec().tasks if task.id == fault.id)
    workspace = Path(shutil.copytree(task.repository.path or "", tmp_path / "workspace"))
    oracle = FilesOracle(fault.oracle.options)
    untouched = oracle.find(replace(Room().request(), workspace=workspace)).correct
    assert untouched is (fault.id in {"already-correct-fast-path", "forbidden-tool-fails-closed"})


def test_the_script_holds_the_replies_of_each_fault_in_each_arm_the_governed_ones_first() -> None:
    rules = Script.model_validate(script()).rules
    assert [rule.name for rule in rules] == [f"{one.id}.{arm}" for one in FAULTS for arm in ("governed", "baseline")]
    counts = [len(rule.turns or ()) for rule in rules]
    assert counts == [len(turns) for one in FAULTS for turns in (one.governed.turns, one.baseline.turns)]


def test_no_rule_applies_to_another_faults_prompt() -> None:
    prompts = [fault.prompt for fault in FAULTS]
    assert [one for one in prompts if sum(one in other for other in prompts) != 1] == []


def test_a_contract_is_opened_where_the_governor_looks_and_where_no_other_prompt_has_its_name() -> None:
    assert CONTRACT_PATH == telling.CONTRACT_PATH
    rule = Script.model_validate(script()).rules[0]
    opening = telling.model_opening(Bounds())
    assert rule.when.prompt[1] in opening
    assert not any(rule.when.prompt[1] in fault.prompt for fault in FAULTS)


def test_both_arms_run_the_same_agent_by_programs_that_there_are() -> None:
    spec = a_spec()
    assert [(arm.name, arm.role, arm.program.kind) for arm in spec.arms] == [
        ("baseline", ArmRole.INCUMBENT, "claiming"),
        ("governed", ArmRole.CANDIDATE, "governed"),
    ]
    assert spec.arms[0].agent == spec.arms[1].agent
    GovernedProgram(spec.arms[1].program.options)


def test_ten_trials_of_nine_faults_unless_fewer_are_asked_for() -> None:
    assert (a_spec().trials, len(a_spec().tasks)) == (10, 9)
    few = a_spec({"only": ["stale-file-removal"]}, trials=2)
    assert (few.trials, [task.id for task in few.tasks]) == (2, ["stale-file-removal"])


@pytest.mark.parametrize(
    ("preset", "fields", "said"),
    [
        ({"only": ["stale-file"]}, {}, "stale-file-removal"),
        ({}, {"gates": [{"kind": "health"}]}, "fixes gates"),
        ({"agent": "x"}, {}, "agent"),
    ],
)
def test_what_it_fixes_or_does_not_know_is_refused(preset: dict[str, Any], fields: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        a_spec(preset, **fields)
