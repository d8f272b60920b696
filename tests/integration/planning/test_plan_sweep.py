import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from farm.adapters.memory.store import MemoryBlobs
from farm.model import Digest, Plan
from farm.planning import plan_sweep
from farm.version import __version__
from tests.builders.planning import SWEEP, Plugin, a_sweep, git, planned, plugins, refused


def test_a_sweep_file_becomes_a_plan_with_every_input_stored(tmp_path: Path) -> None:
    blobs = MemoryBlobs()
    plan = planned(a_sweep(tmp_path), blobs)
    (task,) = plan.tasks
    overlay = plan.arms[1].overlay
    assert overlay is not None
    assert [cell.id for cell in plan.cells] == ["bug.baseline.1", "bug.fresh.1", "bug.fresh.2", "bug.baseline.2"]
    assert blobs.get(task.prompt) == b"Fix the bug."
    assert overlay.instructions is not None
    assert blobs.get(overlay.instructions) == b"Inherited.\n\nOwn."
    assert {task.snapshot.tree, task.prompt, task.oracle.files, overlay.files, overlay.instructions} == set(
        blobs.bodies
    )
    assert task.snapshot.size_bytes == len(blobs.get(task.snapshot.tree))
    assert plan.farm_version == __version__
    assert plan.gates == ()


def test_plug_ins_are_pinned_at_their_version_with_their_own_options(tmp_path: Path) -> None:
    plan = planned(a_sweep(tmp_path, SWEEP.replace("agent: {kind: robot}", "agent: {kind: robot, speed: 3}", 1)))
    agent = plan.arms[0].agent
    assert (agent.name, agent.version, agent.options) == ("robot", "7", {"speed": 3})
    assert plan.arms[0].program.name == "single"


def test_a_gates_policy_is_pinned(tmp_path: Path) -> None:
    more = "metrics: [{name: calls, source: tool_calls, key: '*'}]\ngates: [{kind: counting, metric: calls}]\n"
    (gate,) = planned(a_sweep(tmp_path, SWEEP + more)).gates
    assert (gate.name, gate.version, gate.options) == ("counting", "3", {"metric": "calls", "tasks": ["bug"]})


def test_the_same_inputs_in_another_folder_give_the_same_plan(tmp_path: Path) -> None:
    first = planned(a_sweep(tmp_path / "x"))
    shutil.copytree(tmp_path / "x", tmp_path / "a b" / "y", symlinks=True)
    assert planned(tmp_path / "a b" / "y" / "sweep.yaml").digest == first.digest


def test_no_path_of_this_machine_is_in_the_plan(tmp_path: Path) -> None:
    blobs = MemoryBlobs()
    plan = planned(a_sweep(tmp_path), blobs)
    assert str(tmp_path) not in plan.model_dump_json()
    assert not any(str(tmp_path).encode() in body for body in blobs.bodies.values())


def test_the_plan_does_not_depend_on_the_interpreters_hash_seed(tmp_path: Path) -> None:
    file = a_sweep(tmp_path)
    code = (
        "import sys; from pathlib import Path; from tests.builders.planning import planned; "
        "print(planned(Path(sys.argv[1])).digest)"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code, str(file)],
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin"},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(digests) == 1


def test_a_stored_plan_reads_back_as_itself(tmp_path: Path) -> None:
    plan = planned(a_sweep(tmp_path))
    assert Plan.model_validate_json(plan.model_dump_json()).digest == plan.digest


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("oracle/check.py", "print('other')\n"),
        ("laid/docs/hint.md", "Another hint.\n"),
        ("base.md", "Other.\n"),
        ("sweep.yaml", SWEEP.replace("Fix the bug.", "Fix the bug!")),
        ("sweep.yaml", SWEEP.replace("trials: 2", "trials: 3")),
        ("sweep.yaml", SWEEP + "order: task-major\n"),
        ("sweep.yaml", SWEEP + "deadline_s: 60\n"),
    ],
)
def test_whatever_may_change_a_result_changes_the_plan(tmp_path: Path, file: str, text: str) -> None:
    sweep = a_sweep(tmp_path)
    before = planned(sweep).digest
    (tmp_path / file).write_text(text)
    assert planned(sweep).digest != before


def test_a_change_that_is_not_committed_does_not_change_the_plan(tmp_path: Path) -> None:
    sweep = a_sweep(tmp_path)
    before = planned(sweep).digest
    (tmp_path / "repo" / "a.txt").write_text("changed\n")
    assert planned(sweep).digest == before


def test_case_76_a_branch_that_moves_on_changes_no_plan_that_was_made(tmp_path: Path) -> None:
    file = a_sweep(tmp_path, SWEEP.replace("{path: repo}", "{path: repo, ref: main}"))
    blobs, first = MemoryBlobs(), git(tmp_path / "repo", "rev-parse", "main")
    made = planned(file, blobs)
    (tmp_path / "repo" / "a.txt").write_text("two\n")
    git(tmp_path / "repo", "commit", "-qam", "second")
    later = planned(file, blobs)
    assert made.tasks[0].snapshot.commit == first
    assert b"one\n" in blobs.get(made.tasks[0].snapshot.tree)
    assert later.tasks[0].snapshot.commit == git(tmp_path / "repo", "rev-parse", "main")
    assert b"two\n" in blobs.get(later.tasks[0].snapshot.tree)
    assert later.lock(later.cells[0]) != made.lock(made.cells[0])


def test_a_prompt_may_stand_in_its_own_file(tmp_path: Path) -> None:
    sweep = a_sweep(tmp_path, SWEEP.replace("prompt: Fix the bug.", "prompt_file: prompt.md"))
    (tmp_path / "prompt.md").write_text("Do it.\n")
    assert planned(sweep).tasks[0].prompt == Digest.of(b"Do it.\n")


def _shuffled(value: Any, draw: Any) -> Any:
    match value:
        case dict():
            keys = draw(st.permutations(sorted(value)))
            return {key: _shuffled(value[key], draw) for key in keys}
        case list():
            return [_shuffled(one, draw) for one in value]
        case _:
            return value


@given(st.data())
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_order_of_the_fields_does_not_change_the_plan(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = a_sweep(Path(folder), SWEEP.replace("kind: check,", "kind: check, b: 1, a: {d: 2, c: 3},"))
        before = planned(file).digest
        file.write_text(yaml.safe_dump(_shuffled(yaml.safe_load(file.read_text()), data.draw), sort_keys=False))
        assert planned(file).digest == before


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "kind: robot}",
            "kind: robott}",
            "sweep.yaml:10: arms[0].agent.kind: there is no plug-in 'robott'",
        ),
        (
            "kind: check,",
            "kind: chek,",
            "sweep.yaml:6: tasks[0].oracle.kind: there is no plug-in 'chek'",
        ),
        (
            "kind: robot}",
            "kind: robot, wrong: 1}",
            "sweep.yaml:10: arms[0].agent: the option 'wrong' is not known",
        ),
        ("kind: check,", "kind: check, wrong: 1,", "sweep.yaml:6: tasks[0].oracle: the option 'wrong' is not known"),
        ("trials: 2", "sandbox: bubblewarp", "sweep.yaml:15: sandbox: there is no plug-in 'bubblewarp'"),
        (
            "trials: 2",
            "gates: [{kind: overlai}]",
            "sweep.yaml:15: gates[0]: there is no plug-in 'overlai'",
        ),
        ("trials: 2", "gates: [{kind: counting}]", "sweep.yaml:15: gates[0]: gate counting needs a metric"),
        (
            "trials: 2",
            "gates: [{kind: counting, metric: calls}]",
            "sweep.yaml:15: gates[0]: gate 'counting' needs the metric 'calls', which is not declared under metrics",
        ),
        ("role: incumbent", "role: control", "sweep.yaml:12: arms[1].role: arm 'fresh' is a candidate without"),
        ("name: fresh", "name: baseline", "sweep.yaml:11: arms[1].name: 'baseline' is already the name"),
        (
            "path: repo}",
            "path: repo, ref: v9}",
            "sweep.yaml:4: tasks[0].repository: repository 'repo' has no commit",
        ),
        ("path: repo}", "path: repos}", "sweep.yaml:4: tasks[0].repository: repository 'repos'"),
        ("files: oracle", "files: oracles", "sweep.yaml:6: tasks[0].oracle.files: there is no folder oracles"),
        ("Fix the bug.", "'  '", "sweep.yaml:5: tasks[0].prompt: the prompt is empty"),
        ("prompt: Fix the bug.", "prompt_file: no.md", "sweep.yaml:5: tasks[0].prompt_file: there is no file no.md"),
        ("docs/**", "src/**", "overlay.files: 'docs/hint.md' of laid is outside the boundary ['src/**']"),
        ("more.md", "less.md", "overlay.instructions: there is no file less.md"),
        (
            "trials: 2",
            "preset: {kind: overlay-v3}",
            "sweep.yaml:15: preset.kind: there is no preset 'overlay-v3'; did",
        ),
    ],
)
def test_a_mistake_names_file_line_field_and_what_to_do(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert said in refused(a_sweep(tmp_path, SWEEP.replace(old, new, 1)))


def test_a_duplicate_id_is_told_at_its_second_place(tmp_path: Path) -> None:
    again = "  - id: bug\n    repository: {path: repo}\n    prompt: x\n    oracle: {kind: check}\narms:"
    said = refused(a_sweep(tmp_path, SWEEP.replace("arms:", again)))
    assert said == "sweep.yaml:7: tasks[1].id: 'bug' is already the id of tasks[0]; choose another"


def test_an_oracle_that_is_a_symlink_is_refused(tmp_path: Path) -> None:
    sweep = a_sweep(tmp_path)
    (tmp_path / "oracle").rename(tmp_path / "real")
    (tmp_path / "oracle").symlink_to("real")
    assert refused(sweep) == "sweep.yaml:6: tasks[0].oracle.files: oracle is a symbolic link; name the real folder"


def test_an_oracle_that_holds_a_symlink_is_refused(tmp_path: Path) -> None:
    sweep = a_sweep(tmp_path)
    (tmp_path / "oracle" / "more.py").symlink_to("check.py")
    assert "tasks[0].oracle.files: oracle/more.py is a symbolic link" in refused(sweep)


@pytest.mark.parametrize("where", ["inline", "file"])
def test_a_prompt_of_ten_megabytes_is_refused(tmp_path: Path, where: str) -> None:
    text = "word " * 2_000_000
    sweep = a_sweep(tmp_path, SWEEP.replace("Fix the bug.", f"'{text}'"))
    if where == "file":
        sweep.write_text(SWEEP.replace("prompt: Fix the bug.", "prompt_file: prompt.md"))
        (tmp_path / "prompt.md").write_text(text)
    said = refused(sweep)
    assert said.startswith("sweep.yaml:5: tasks[0].prompt")
    assert "10000000 bytes, above the 1048576 allowed" in said
    assert len(said) < 300


def test_a_prompt_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    sweep = a_sweep(tmp_path, SWEEP.replace("prompt: Fix the bug.", "prompt_file: prompt.md"))
    (tmp_path / "prompt.md").write_bytes(b"\xff\xfe")
    assert "prompt.md is not UTF-8 text (byte 0)" in refused(sweep)


def test_an_empty_instruction_file_is_refused(tmp_path: Path) -> None:
    sweep = a_sweep(tmp_path)
    (tmp_path / "more.md").write_text(" \n")
    assert "the instruction file more.md is empty" in refused(sweep)


def test_several_mistakes_are_told_at_once_in_the_files_order(tmp_path: Path) -> None:
    text = SWEEP.replace("kind: robot}", "kind: robott}", 1).replace("files: oracle", "files: none")
    assert [line.split(":")[1] for line in refused(a_sweep(tmp_path, text)).splitlines()] == ["6", "10"]


def test_a_refused_sweep_leaves_nothing_in_the_store(tmp_path: Path) -> None:
    for number, text in enumerate((SWEEP.replace("path: repo}", "path: repo, ref: v9}"), SWEEP + "deadline: 3\n")):
        blobs = MemoryBlobs()
        refused(a_sweep(tmp_path / str(number), text), blobs)
        assert blobs.bodies == {}


def test_a_plug_in_that_is_not_asked_for_is_not_loaded(tmp_path: Path) -> None:
    def never(options: object) -> object:
        raise AssertionError(options)

    known = plugins(agents={"robot": Plugin, "other": never}, sandboxes={"bubblewrap": never})
    assert planned(a_sweep(tmp_path), known=known).arms[0].agent.name == "robot"


def test_a_shared_repository_is_packed_once(tmp_path: Path) -> None:
    again = "  - id: two\n    repository: {path: repo}\n    prompt: x\n    oracle: {kind: check}\narms:"
    plan = planned(a_sweep(tmp_path, SWEEP.replace("arms:", again)))
    assert plan.tasks[0].snapshot == plan.tasks[1].snapshot


EXPENSIVE = SWEEP.replace(
    "arms:",
    """\
  - id: large
    label: cross-module
    expensive: true
    repository: {path: other}
    prompt: Rebuild it.
    oracle: {kind: check}
gates: [{kind: counting, metric: calls}]
metrics: [{name: calls, source: tool_calls, key: "*"}]
arms:""",
)


def test_an_expensive_task_is_skipped_and_named_and_its_repository_is_not_packed(tmp_path: Path) -> None:
    plan = planned(a_sweep(tmp_path, EXPENSIVE))
    assert [task.id for task in plan.tasks] == ["bug"]
    assert plan.skipped == ("large",)
    assert {cell.task for cell in plan.cells} == {"bug"}
    assert plan.gates[0].options["tasks"] == ["bug"]


def test_an_expensive_task_is_planned_when_asked_for(tmp_path: Path) -> None:
    file = a_sweep(tmp_path, EXPENSIVE)
    shutil.copytree(tmp_path / "repo", tmp_path / "other")
    plan = plan_sweep(file, MemoryBlobs(), plugins(), expensive=True)
    assert [(task.id, task.label, task.expensive) for task in plan.tasks] == [
        ("bug", None, False),
        ("large", "cross-module", True),
    ]
    assert plan.skipped == ()
    assert {cell.task for cell in plan.cells} == {"bug", "large"}


def test_a_skipped_task_is_checked_all_the_same(tmp_path: Path) -> None:
    said = refused(a_sweep(tmp_path, EXPENSIVE.replace("id: large", "id: bug")))
    assert "'bug' is already the id of tasks[0]" in said
    assert "expensive: should be a valid boolean, not 1" in refused(
        a_sweep(tmp_path / "b", EXPENSIVE.replace("true", "1"))
    )


def test_a_sweep_of_expensive_tasks_alone_is_refused_unless_they_are_asked_for(tmp_path: Path) -> None:
    said = refused(a_sweep(tmp_path, SWEEP.replace("prompt:", "expensive: true\n    prompt:")))
    assert "every task is expensive, and none was asked for; say --expensive" in said


def test_an_oracle_whose_program_is_a_dependency_is_refused_without_it(tmp_path: Path) -> None:
    text = SWEEP.replace("oracle: {kind: check, files: oracle}", "oracle: {kind: depending, files: oracle}")
    assert "needs a dependency at 'node_modules'" in refused(a_sweep(tmp_path, text))
