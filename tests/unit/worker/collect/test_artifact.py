"""Taking the one file that a session was to write: its bytes, or what exactly is wrong with it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from worker.collect.outputs import take_artifact
from worker.session import ArtifactProblem

PLACE = "review/review.json"
MOST = 100


def taken(out: Path) -> bytes | ArtifactProblem:
    return take_artifact(out, PLACE, MOST)


def folder(out: Path) -> Path:
    (out / "review").mkdir()
    return out / "review"


def test_a_regular_file_gives_its_bytes(tmp_path: Path) -> None:
    (folder(tmp_path) / "review.json").write_bytes(b"{}")
    assert taken(tmp_path) == b"{}"


def test_a_file_put_in_place_by_a_rename_is_taken(tmp_path: Path) -> None:
    draft = folder(tmp_path) / "review.json.tmp"
    draft.write_bytes(b"{}")
    draft.rename(tmp_path / PLACE)
    assert taken(tmp_path) == b"{}"


def nothing(_place: Path) -> None:
    pass


def an_empty_file(place: Path) -> None:
    place.touch()


def one_byte_too_many(place: Path) -> None:
    place.write_bytes(bytes(MOST + 1))


def a_folder(place: Path) -> None:
    place.mkdir()


def a_pipe(place: Path) -> None:
    os.mkfifo(place)


def a_relative_link(place: Path) -> None:
    (place.parent / "other.json").write_bytes(b"{}")
    place.symlink_to("other.json")


def an_absolute_link(place: Path) -> None:
    place.symlink_to("/etc/passwd")


def a_hard_link(place: Path) -> None:
    (place.parent / "other.json").write_bytes(b"{}")
    place.hardlink_to(place.parent / "other.json")


@pytest.mark.parametrize(
    ("write", "problem"),
    [
        (nothing, ArtifactProblem.NEVER_WRITTEN),
        (an_empty_file, ArtifactProblem.EMPTY),
        (one_byte_too_many, ArtifactProblem.TOO_LARGE),
        (a_folder, ArtifactProblem.IRREGULAR),
        (a_pipe, ArtifactProblem.IRREGULAR),
        (a_relative_link, ArtifactProblem.IRREGULAR),
        (an_absolute_link, ArtifactProblem.IRREGULAR),
        (a_hard_link, ArtifactProblem.IRREGULAR),
    ],
)
def test_each_bad_artifact_has_a_problem_of_its_own(
    write: Callable[[Path], None], problem: ArtifactProblem, tmp_path: Path
) -> None:
    write(folder(tmp_path) / "review.json")
    assert taken(tmp_path) is problem


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "review.json").write_bytes(b"{}")
    (tmp_path / "review").symlink_to(elsewhere)
    assert taken(tmp_path) is ArtifactProblem.IRREGULAR
    assert (elsewhere / "review.json").read_bytes() == b"{}"


def test_a_folder_that_is_gone_means_never_written(tmp_path: Path) -> None:
    assert taken(tmp_path) is ArtifactProblem.NEVER_WRITTEN
