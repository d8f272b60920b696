from pathlib import Path
from typing import Any

import pytest

from farm.model import SweepSpec
from farm.planning.exposed import exposed_oracles


def a_spec(**arm: Any) -> SweepSpec:
    oracle = {"kind": "command", "argv": ["true"], "files": "oracles/sums"}
    task = {
        "id": "sums",
        "repository": {"path": "r"},
        "prompt": "Add.",
        "oracle": oracle,
        "reference": "references/sums",
    }
    agent = {"kind": "command", "argv": ["true"]}
    return SweepSpec.model_validate(
        {"name": "s", "tasks": [task], "arms": [{"name": "a", "role": "control", "agent": agent} | arm]}
    )


@pytest.mark.parametrize(
    ("arm", "loc"),
    [
        ({"assets": {"kit": "oracles/sums"}}, ("assets", "kit")),
        ({"assets": {"kit": "oracles/sums/tests"}}, ("assets", "kit")),
        ({"assets": {"kit": "."}}, ("assets", "kit")),
        ({"assets": {"kit": "skills/../oracles"}}, ("assets", "kit")),
        ({"overlay": {"files": "oracles", "boundary": ["**"]}}, ("overlay", "files")),
        ({"overlay": {"base": "oracles/sums", "boundary": ["**"]}}, ("overlay", "base")),
    ],
)
def test_an_arm_whose_folder_holds_an_oracles_files_is_refused(
    arm: dict[str, Any], loc: tuple[str, ...], tmp_path: Path
) -> None:
    (problem,) = exposed_oracles(a_spec(**arm), tmp_path)

    assert problem.loc == ("arms", 0, *loc)
    assert "of the oracle of task 'sums'" in problem.text


def test_a_link_to_an_oracles_folder_is_that_folder(tmp_path: Path) -> None:
    (tmp_path / "oracles/sums").mkdir(parents=True)
    (tmp_path / "kit").symlink_to("oracles/sums")

    assert len(list(exposed_oracles(a_spec(assets={"kit": "kit"}), tmp_path))) == 1


@pytest.mark.parametrize(
    "arm",
    [
        {},
        {"assets": {"kit": "oracles-of-old"}},
        {"overlay": {"files": "references/sums", "boundary": ["**"]}},
    ],
)
def test_other_folders_and_a_tasks_reference_are_an_arms_own(arm: dict[str, Any], tmp_path: Path) -> None:
    assert list(exposed_oracles(a_spec(**arm), tmp_path)) == []
