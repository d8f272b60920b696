"""What arms lay over workspaces: on their incumbent's files, within a boundary, and with an effect in each task."""

import io
import tarfile
from pathlib import Path

import pytest

from farm.adapters.memory.store import MemoryBlobs
from farm.errors import SpecError
from tests.builders.planning import a_repository, a_sweep, planned

SKILL, OTHER = ".agent/skills/work/SKILL.md", ".agent/skills/plan/SKILL.md"
SWEEP = """\
name: demo
tasks:
  - {id: bug, repository: {path: repo}, prompt: Fix it., oracle: {kind: check, files: oracle}}
arms:
  - name: old
    role: incumbent
    agent: {kind: robot}
    overlay: {base: skills, boundary: [.agent/skills/**]}
  - name: fresh
    role: candidate
    agent: {kind: robot}
    overlay: {base: skills, files: better, boundary: [.agent/skills/**], modify_only: true}
"""


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    file = a_sweep(tmp_path, SWEEP)
    put(tmp_path / "skills", {SKILL: "Work.\n", OTHER: "Plan.\n"})
    put(tmp_path / "better", {SKILL: "Work well.\n"})
    return file


def put(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def laid(sweep: Path, arm: int) -> dict[str, str]:
    blobs = MemoryBlobs()
    overlay = planned(sweep, blobs).arms[arm].overlay
    assert overlay is not None
    assert overlay.files is not None
    with tarfile.open(fileobj=io.BytesIO(blobs.get(overlay.files))) as tar:
        files = {member.name: tar.extractfile(member) for member in tar if member.isreg()}
        return {name: stream.read().decode() for name, stream in files.items() if stream is not None}


def test_a_candidate_is_its_incumbents_files_with_its_own_over_them(sweep: Path) -> None:
    assert laid(sweep, 0) == {SKILL: "Work.\n", OTHER: "Plan.\n"}
    assert laid(sweep, 1) == {SKILL: "Work well.\n", OTHER: "Plan.\n"}


def refused(sweep: Path) -> str:
    with pytest.raises(SpecError) as caught:
        planned(sweep)
    return str(caught.value)


def test_a_file_without_a_base_is_refused_where_only_changes_are_meant(sweep: Path) -> None:
    put(sweep.parent / "better", {".agent/skills/new/SKILL.md": "New.\n"})
    words = "arms[1].overlay: '.agent/skills/new/SKILL.md' stands neither in the base nor in task 'bug'"
    assert words in refused(sweep)


def test_a_file_that_stands_in_the_repository_is_a_base_too(tmp_path: Path) -> None:
    sweep = a_sweep(tmp_path, SWEEP.replace("base: skills, files: better", "files: better"))
    put(tmp_path / "skills", {SKILL: "Work.\n"})
    put(tmp_path / "better", {"./.agent/skills/a.md": "Better.\n"})
    assert "stands neither" in refused(sweep)
    put(tmp_path / "better", {})
    (tmp_path / "repo2").mkdir()
    a_repository(tmp_path / "repo2", {".agent/skills/a.md": "Good.\n"})
    sweep.write_text(sweep.read_text().replace("path: repo", "path: repo2"))
    assert planned(sweep).arms[1].overlay is not None


@pytest.mark.parametrize("base", ["skills", "repo"])
def test_a_candidate_that_is_its_incumbent_byte_for_byte_is_refused(sweep: Path, base: str) -> None:
    put(sweep.parent / "better", {SKILL: "Work.\n"})
    if base == "repo":
        a_repository(sweep.parent / "repo3", {SKILL: "Work.\n"})
        sweep.write_text(
            SWEEP.replace("path: repo", "path: repo3").replace("base: skills, files: better", "files: better")
        )
    assert "arms[1].overlay: its files are what stands in task 'bug' already" in refused(sweep)


def test_a_mode_alone_makes_a_difference(sweep: Path) -> None:
    put(sweep.parent / "better", {SKILL: "Work.\n"})
    (sweep.parent / "better" / SKILL).chmod(0o755)
    assert planned(sweep).arms[1].overlay is not None


def test_files_outside_the_boundary_are_refused_of_both_folders(sweep: Path) -> None:
    put(sweep.parent / "skills", {"src/a.py": "A = 1\n"})
    assert "'src/a.py' of" in refused(sweep)


def test_which_arm_another_is_set_against_does_not_change_what_is_measured(sweep: Path) -> None:
    plain = planned(sweep)
    sweep.write_text(SWEEP.replace("role: candidate", "role: candidate\n    incumbent: old"))
    named = planned(sweep)
    assert named.arms[1].incumbent == "old"
    assert named.digest != plain.digest
    assert [named.lock(cell) for cell in named.cells] == [plain.lock(cell) for cell in plain.cells]
