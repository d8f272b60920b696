"""The sweep that proves a file's tasks."""

from pathlib import Path

import pytest

from farm.adapters.memory.store import MemoryBlobs
from farm.errors import SpecError
from farm.model import Plan
from farm.planning.folder import pack_folder
from farm.planning.proofs import is_of_nothing, plan_proofs
from tests.builders.planning import SWEEP, Plugin, a_sweep, planned, plugins

KNOWN = plugins(agents={"robot": Plugin, "scripted": Plugin})
SECOND = """\
  - id: other
    repository: {path: repo}
    prompt: Do more.
    oracle: {kind: check}
arms:
"""


def proofs(file: Path, *tasks: str, blobs: MemoryBlobs | None = None) -> Plan:
    return plan_proofs(file, tasks, MemoryBlobs() if blobs is None else blobs, KNOWN)


def with_reference(folder: Path, reference: str = "solved") -> Path:
    (folder / "solved").mkdir()
    (folder / "solved" / "a.txt").write_text("two\n")
    text = SWEEP.replace("    prompt: Fix the bug.\n", f"    prompt: Fix the bug.\n    reference: {reference}\n")
    return a_sweep(folder, text.replace("arms:\n", SECOND))


def test_each_task_is_done_twice_by_nobody_and_twice_by_its_own_reference(tmp_path: Path) -> None:
    plan = proofs(with_reference(tmp_path))
    assert [cell.id for cell in plan.cells] == [
        "bug.nothing.1",
        "bug.reference-1.1",
        "bug.nothing.2",
        "bug.reference-1.2",
        "other.nothing.1",
        "other.nothing.2",
    ]


def test_the_tasks_are_the_sweeps_own_and_nothing_that_costs_is_there(tmp_path: Path) -> None:
    file = with_reference(tmp_path)
    heard = [
        task.model_copy(update={"oracle": task.oracle.model_copy(update={"keep_output": True})})
        for task in planned(file).tasks
    ]
    plan = proofs(file)
    assert list(plan.tasks) == heard
    assert {arm.agent.name for arm in plan.arms} == {"scripted"}
    assert (plan.gates, plan.windows, plan.breaker.streak) == ((), (), 0)


def test_a_setup_is_held_to_what_the_sweeps_arms_lay_over_its_workspace(tmp_path: Path) -> None:
    file = with_reference(tmp_path)
    file.write_text(
        file.read_text().replace("    prompt: Do more.\n", "    prompt: Do more.\n    setup: {argv: [make]}\n")
    )
    plan, (_, fresh) = proofs(file), planned(file).arms
    (overlaid,) = (arm for arm in plan.arms if arm.overlay is not None)
    assert overlaid.overlay == fresh.overlay
    assert overlaid.agent.name == "scripted"
    assert overlaid.name not in {cell.arm for cell in plan.cells}


def test_a_reference_is_brought_as_the_arms_asset_and_laid_by_its_script(tmp_path: Path) -> None:
    blobs = MemoryBlobs()
    plan = proofs(with_reference(tmp_path), blobs=blobs)
    nothing, reference = plan.arms
    assert blobs.get(reference.assets["reference"]) == pack_folder(tmp_path / "solved")
    assert nothing.assets == {}
    assert "cp -Rp /cell/assets/reference/. ." in str(reference.agent.options)


def test_a_reference_may_be_the_final_answer(tmp_path: Path) -> None:
    plan = proofs(with_reference(tmp_path, "{answer: '[1, 2]'}"))
    reference = plan.arms[1]
    assert (reference.assets, reference.agent.options) == (
        {},
        {"scripts": {"*": [{"answer": {"text": "[1, 2]"}}]}},
    )


def test_a_reference_may_delete_what_stands_in_the_workspace(tmp_path: Path) -> None:
    plan = proofs(with_reference(tmp_path, "{removes: [old.txt, lib/older.txt]}"))
    reference = plan.arms[1]
    deletes = [{"delete": {"path": "old.txt"}}, {"delete": {"path": "lib/older.txt"}}]
    assert reference.assets == {}
    assert reference.agent.options["scripts"] == {"*": [*deletes, {"answer": {"text": "Nothing more was done."}}]}


def test_a_review_is_written_where_its_program_wants_it_and_found_nothing_with_nothing_done(tmp_path: Path) -> None:
    known = plugins(
        agents={"robot": Plugin, "scripted": Plugin},
        programs={"single": Plugin, "review": Plugin},
        oracles={"review": Plugin},
    )
    file = with_reference(tmp_path)
    file.write_text(file.read_text().replace("kind: check", "kind: review"))

    plan = plan_proofs(file, ("bug",), MemoryBlobs(), known)

    assert [(arm.name, arm.program.name) for arm in plan.arms] == [
        ("nothing-found", "review"),
        ("reference-1", "review"),
    ]
    nothing, reference = (str(arm.agent.options) for arm in plan.arms)
    assert '"findings": []' in nothing
    assert 'cp -Rp /cell/assets/reference/. "$FARM_OUT"/review' in reference
    assert [is_of_nothing(arm.name) for arm in plan.arms] == [True, False]


def test_only_the_chosen_tasks_are_proven(tmp_path: Path) -> None:
    plan = proofs(with_reference(tmp_path), "other")
    assert [task.id for task in plan.tasks] == ["other"]
    assert {cell.task for cell in plan.cells} == {"other"}


def test_an_unknown_task_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no task 'bugg'; did you mean 'bug'"):
        proofs(with_reference(tmp_path), "bugg")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("missing", "there is no folder"),
        ("{}", "a reference needs files, an answer, or what it removes"),
        ("{folder: solved}", "unknown field 'folder'"),
    ],
)
def test_a_reference_that_is_none_is_refused_at_its_line(tmp_path: Path, reference: str, said: str) -> None:
    with pytest.raises(SpecError, match=said) as caught:
        planned(with_reference(tmp_path, reference))
    assert "sweep.yaml:6: tasks[0].reference" in str(caught.value)
