"""The oracle `files`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from farm.errors import SpecError
from farm.model import OracleFinding
from tests.builders.worker.oracles import Room
from worker.oracles.files import FilesOracle

READY = {"kind": "file_contains", "path": "status.txt", "text": "ready"}
GONE = {"kind": "file_absent", "path": "stale.tmp"}


def judged(workspace: Path, *checks: dict[str, Any], **options: Any) -> OracleFinding:
    room = Room()
    found = FilesOracle({"checks": list(checks), **options}).find(replace(room.request(), workspace=workspace))
    assert (room.asked, room.lent) == ([], [])
    return found


def test_a_workspace_in_which_every_check_holds_is_right(tmp_path: Path) -> None:
    (tmp_path / "status.txt").write_text("ready\n")
    assert judged(tmp_path, READY, GONE) == OracleFinding(correct=True, numbers={"checks": 2, "checks_held": 2})


def test_one_check_that_fails_makes_it_wrong_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "status.txt").write_text("ready\n")
    (tmp_path / "stale.tmp").write_text("")
    assert judged(tmp_path, READY, GONE) == OracleFinding(
        correct=False,
        answer_error="file_absent stale.tmp: the path is not absent",
        numbers={"checks": 2, "checks_held": 1},
    )


def test_every_check_is_judged_and_the_first_few_are_named(tmp_path: Path) -> None:
    found = judged(tmp_path, *[READY | {"path": f"{number}.txt"} for number in range(7)])
    assert found.numbers == {"checks": 7, "checks_held": 0}
    assert found.answer_error is not None
    assert found.answer_error.startswith("file_contains 0.txt: the path is absent; ")
    assert found.answer_error.endswith("; and 2 more")


def test_what_nothing_solves_is_never_right(tmp_path: Path) -> None:
    found = judged(tmp_path, {"kind": "always_false", "reason": "nobody can know that"})
    assert (found.correct, found.answer_error) == (False, "always_false: nobody can know that")


def test_the_bound_of_a_files_size_is_the_tasks(tmp_path: Path) -> None:
    (tmp_path / "status.txt").write_text("ready")
    assert judged(tmp_path, READY, most_file_bytes=5).correct is True
    assert judged(tmp_path, READY, most_file_bytes=4).correct is False


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({}, "checks"),
        ({"checks": []}, "checks"),
        ({"checks": [READY] * 101}, "checks"),
        ({"checks": [READY | {"path": "../x"}]}, "checks.0.file_contains.path"),
        ({"checks": [READY], "most_file_bytes": (10 << 20) + 1}, "most_file_bytes"),
    ],
)
def test_options_that_are_wrong_are_refused_by_name(options: dict[str, Any], place: str) -> None:
    with pytest.raises(SpecError, match=f"'files', {place}:"):
        FilesOracle(options)


def test_options_are_pinned_whole() -> None:
    assert FilesOracle({"checks": [READY]}).options == {"checks": [READY], "most_file_bytes": 1 << 20}
