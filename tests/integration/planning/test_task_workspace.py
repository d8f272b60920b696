"""What a task says of the workspace that its sessions find, in its plan."""

from pathlib import Path

import pytest

from farm.adapters.memory.store import MemoryBlobs
from farm.errors import SpecError
from farm.model import Build, BuildLimits, CopiedAsset, Dependency, Setup, SetupLimits
from tests.builders.planning import SWEEP, a_sweep, files_in, planned

ORACLE = "    oracle: {kind: check, files: oracle}\n"


def with_task(line: str) -> str:
    return SWEEP.replace(ORACLE, f"{ORACLE}    {line}\n")


def test_a_setup_is_pinned_and_has_ten_minutes_unless_it_says_otherwise(tmp_path: Path) -> None:
    plan = planned(a_sweep(tmp_path, with_task("setup: {argv: [sh, -c, make], env: {A: b}}")))
    (task,) = plan.tasks
    assert task.setup == Setup(argv=("sh", "-c", "make"), env={"A": "b"}, limits=SetupLimits(wall_s=600))
    assert plan.needed_s(plan.cells[0]) == 600 + 2400 + 120 + 30


def test_a_window_must_be_wide_enough_for_the_setup_too(tmp_path: Path) -> None:
    text = with_task("setup: {argv: [make]}") + "windows: ['22:00-22:50']\n"
    with pytest.raises(SpecError, match=r"a cell of task 'bug' may need 3150 s"):
        planned(a_sweep(tmp_path, text))


def a_sweep_that_brings(folder: Path, line: str) -> Path:
    """A sweep file beside whose oracle there are packages, and a patch."""
    file = a_sweep(folder, with_task(line))
    (folder / "node_modules/left").mkdir(parents=True)
    (folder / "node_modules/left/index.js").write_text("7\n")
    (folder / "node_modules/.bin").mkdir()
    (folder / "node_modules/.bin/left").symlink_to("../left/index.js")
    (folder / "fix.patch").write_text("p\n")
    (folder / "repo/built").mkdir()
    (folder / "repo/built/types.d.ts").write_text("t\n")
    return file


def test_dependencies_and_copies_are_pinned_by_their_content(tmp_path: Path) -> None:
    blobs = MemoryBlobs()
    line = (
        "dependencies: [{source: node_modules, target: app/node_modules}, "
        "{source: built, base: repository, target: types}]\n    copies: [{source: fix.patch, target: .farm/fix.patch}]"
    )
    (task,) = planned(a_sweep_that_brings(tmp_path, line), blobs).tasks
    modules, types, patch = (*task.dependencies, *task.copies)
    assert (modules.target, types.target, patch.target) == ("app/node_modules", "types", ".farm/fix.patch")
    assert files_in(blobs.get(modules.files)) == (".bin/left", "left/index.js")
    assert files_in(blobs.get(types.files)) == ("types.d.ts",)
    assert files_in(blobs.get(patch.files)) == (".farm/fix.patch",)
    assert isinstance(modules, Dependency)
    assert isinstance(patch, CopiedAsset)


def test_what_was_captured_elsewhere_is_pinned_alike(tmp_path: Path) -> None:
    line = "dependencies: [{source: node_modules, target: deps}]"
    first, second = (planned(a_sweep_that_brings(tmp_path / name, line)) for name in ("one", "two"))
    assert first.digest == second.digest
    (tmp_path / "two/node_modules/left/index.js").write_text("8\n")
    assert planned(tmp_path / "two/sweep.yaml").digest != first.digest


def test_packages_with_a_cache_of_vites_get_an_empty_place_for_it(tmp_path: Path) -> None:
    line = "dependencies: [{source: node_modules, target: node_modules}, {source: node_modules, target: lib/modules}]"
    file = a_sweep_that_brings(tmp_path, line)
    (tmp_path / "node_modules/.vite-temp").mkdir()
    (task,) = planned(file).tasks
    assert [one.scratch for one in task.dependencies] == [(".vite-temp",), ()]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("dependencies: [{source: gone, target: x}]", r"dependencies\[0\]\.source: .*gone is no folder"),
        ("dependencies: [{source: fix.patch, target: x}]", "is no folder, and a dependency is one"),
        ("copies: [{source: gone, target: x}]", "gone can't be captured: No such file"),
        ("dependencies: [{source: node_modules, target: a.txt}]", r"target: 'a\.txt' overlaps 'a\.txt', which the rep"),
        ("dependencies: [{source: node_modules, target: a.txt/b}]", "overlaps 'a.txt', which the repository has"),
        ("dependencies: [{source: node_modules, target: docs/hint.md}]", "overlaps 'docs/hint.md' of arm 'fresh'"),
        ("dependencies: [{source: node_modules, target: docs}]", "overlaps 'docs/hint.md' of arm 'fresh'"),
        ("dependencies: [{source: node_modules, target: ../x}]", "is not a relative path"),
        ("dependencies: [{source: node_modules, target: .git/x}]", "is not a plain path"),
        ("dependencies: [{source: node_modules, target: x/}]", "is not a plain path"),
        (f"dependencies: [{{source: node_modules, target: x/{'é' * 128}}}]", "a name of more than 255 bytes"),
        ("dependencies: [{source: ../oracle, base: repository, target: x}]", "is not inside the repository"),
        (
            "builds: [{name: lib, argv: [make], output: a.txt}]",
            r"builds\[0\]\.target: 'a\.txt' overlaps 'a\.txt', which the",
        ),
        ("builds: [{name: lib, argv: [make], output: a.txt, target: x}]", r"builds\[0\]\.output: 'a\.txt' overlaps"),
        ("builds: [{name: lib, argv: [make], output: docs}]", "overlaps 'docs/hint.md' of arm 'fresh'"),
        (
            "copies: [{source: fix.patch, target: d/a}]\n    builds: [{name: b, argv: [x], output: d, target: l}]",
            r"builds\[0\]\.output: 'd' overlaps 'd/a', which the build finds there",
        ),
        (
            "builds: [{name: lib, argv: [make], output: x}, {name: lib, argv: [make], output: y}]",
            r"builds\[1\]\.name: 'lib' is another build's name already",
        ),
        (
            "dependencies: [{source: node_modules, target: x}]\n    copies: [{source: fix.patch, target: x/y}]",
            r"copies\[0\]\.target: 'x/y' overlaps 'x'",
        ),
    ],
)
def test_what_has_no_place_or_no_source_is_refused_before_anything_is_stored(
    tmp_path: Path, line: str, said: str
) -> None:
    blobs = MemoryBlobs()
    with pytest.raises(SpecError, match=said):
        planned(a_sweep_that_brings(tmp_path, line), blobs)
    assert blobs.bodies == {}


def test_what_the_repository_hides_is_not_brought_back(tmp_path: Path) -> None:
    line = "copies: [{source: ., base: repository, target: again}]"
    file = a_sweep_that_brings(tmp_path, line)
    file.write_text(file.read_text().replace("{path: repo}", "{path: repo, hidden: [a.txt]}"))
    with pytest.raises(SpecError, match=r"copies\[0\].*it brings 'a\.txt', which the repository hides"):
        planned(file)


@pytest.mark.parametrize("source", ["repo", "."])
def test_what_the_repository_hides_is_found_by_where_it_lies(tmp_path: Path, source: str) -> None:
    file = a_sweep_that_brings(tmp_path, f"copies: [{{source: {source}, target: again}}]")
    file.write_text(
        file.read_text().replace("{path: repo}", "{path: repo, hidden: [a.txt]}").replace(", files: oracle", "")
    )
    with pytest.raises(SpecError, match=r"copies\[0\].*it brings 'a\.txt', which the repository hides"):
        planned(file)


@pytest.mark.parametrize(("source", "kind"), [(".", "copies"), ("oracle", "copies"), (".", "dependencies")])
def test_what_judges_a_task_is_not_brought_to_its_sessions(tmp_path: Path, source: str, kind: str) -> None:
    file = a_sweep_that_brings(tmp_path, f"{kind}: [{{source: {source}, target: again}}]")
    with pytest.raises(SpecError, match=rf"{kind}\[0\].*it brings '.*oracle.*', of the task's oracle or reference"):
        planned(file)


def test_what_solves_a_task_is_not_brought_to_its_sessions(tmp_path: Path) -> None:
    file = a_sweep_that_brings(
        tmp_path, "copies: [{source: node_modules, target: x}]\n    reference: node_modules/left"
    )
    with pytest.raises(SpecError, match=r"it brings '.*node_modules/left', of the task's oracle or reference"):
        planned(file)


def test_a_sandbox_that_mounts_nothing_takes_no_dependencies(tmp_path: Path) -> None:
    file = a_sweep_that_brings(tmp_path, "dependencies: [{source: node_modules, target: x}]")
    file.write_text(file.read_text() + "sandbox: unsafe-host\n")
    with pytest.raises(SpecError, match=r"tasks\[0\]\.dependencies: sandbox 'unsafe-host' mounts nothing"):
        planned(file)


def test_a_build_is_pinned_and_changes_what_its_tasks_cells_measure(tmp_path: Path) -> None:
    line = "builds: [{name: lib, argv: [make, lib], output: app/dist, target: lib, forbidden: [secret]}]"
    plan = planned(a_sweep_that_brings(tmp_path, line))
    (task,) = plan.tasks
    build = Build(name="lib", argv=("make", "lib"), output="app/dist", target="lib", forbidden=("secret",))
    assert task.builds == (build,)
    assert build.limits == BuildLimits(wall_s=3600)
    (tmp_path / "sweep.yaml").write_text((tmp_path / "sweep.yaml").read_text().replace("[make, lib]", "[make, all]"))
    other = planned(tmp_path / "sweep.yaml")
    assert other.lock(other.cells[0]) != plan.lock(plan.cells[0])
