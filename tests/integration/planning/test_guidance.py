"""Guidance that an arm must not see is tried on each task's files when the sweep is planned."""

from pathlib import Path

import pytest

from farm.errors import SpecError
from farm.model import Guidance
from tests.builders.planning import a_repository, a_sweep, planned

BLOCK = "<!-- graph:start -->\nUse the graph.\n<!-- graph:end -->\n"
SWEEP = """\
name: demo
tasks:
  - {id: bug, repository: {path: house}, prompt: Fix it., oracle: {kind: check, files: oracle}}
  - {id: other, repository: {path: repo}, prompt: Fix it., oracle: {kind: check, files: oracle}}
arms:
  - name: bare
    role: control
    agent: {kind: robot}
    overlay: {guidance: {blocks: [graph]}}
"""


def a_house(folder: Path, files: dict[str, str], overlay: str = "guidance: {blocks: [graph]}") -> Path:
    a_repository(folder / "house", files)
    return a_sweep(folder, SWEEP.replace("guidance: {blocks: [graph]}", overlay))


def test_guidance_is_pinned_with_its_arm(tmp_path: Path) -> None:
    plan = planned(a_house(tmp_path, {"AGENTS.md": BLOCK, "src/CLAUDE.md": "Test.\n"}))
    assert plan.arms[0].overlay is not None
    assert plan.arms[0].overlay.guidance == Guidance(blocks=("graph",))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"AGENTS.md": BLOCK[:-10]}, "task 'bug', 'AGENTS.md': the markers of block 'graph' are not in pairs"),
        ({"src/CLAUDE.md": BLOCK + BLOCK[20:]}, "'src/CLAUDE.md': the markers of block 'graph' are not in pairs"),
        ({"AGENTS.md": "Be brief.\n"}, "no file of any task holds 'graph'"),
        ({"README.md": BLOCK}, "no file of any task holds 'graph'"),
        ({"AGENTS.md": BLOCK + "x" * (1 << 20)}, "above the 1048576 allowed of instructions"),
    ],
)
def test_guidance_that_would_stay_is_refused(tmp_path: Path, files: dict[str, str], words: str) -> None:
    with pytest.raises(SpecError) as caught:
        planned(a_house(tmp_path, files))
    assert f"arms[0].overlay: {words}" in str(caught.value) or words in str(caught.value)


@pytest.mark.parametrize(("target", "is_fine"), [("AGENTS.md", True), ("docs/house.md", False)])
def test_a_link_to_a_file_that_stays_as_it_is_is_refused(tmp_path: Path, target: str, *, is_fine: bool) -> None:
    (tmp_path / "house").mkdir()
    (tmp_path / "house/CLAUDE.md").symlink_to(target)
    sweep = a_house(tmp_path, {"AGENTS.md": BLOCK, "docs/house.md": "Use the graph.\n"})
    if is_fine:
        assert planned(sweep).arms[0].overlay is not None
        return
    with pytest.raises(SpecError, match=r"'CLAUDE\.md' is a link to 'docs/house\.md'"):
        planned(sweep)


def test_an_overlays_own_instruction_files_are_tried_in_place_of_the_repositorys(tmp_path: Path) -> None:
    overlay = "files: mine, boundary: ['**'], guidance: {blocks: [graph]}"
    sweep = a_house(tmp_path, {"AGENTS.md": "<!-- graph:start -->\n"}, overlay)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/AGENTS.md").write_text(BLOCK)
    assert planned(sweep).arms[0].overlay is not None
    (tmp_path / "mine/AGENTS.md").write_text(BLOCK[5:])
    with pytest.raises(SpecError, match=r"the overlay's 'AGENTS\.md': the markers"):
        planned(sweep)
