"""What a host has made once goes when nobody uses it, the oldest first, and is made again when it is asked for."""

import os
from pathlib import Path

import pytest

from farm.adapters.memory import MemoryStore
from farm.model import Snapshot
from tests.builders.worker.farm import a_tar
from worker.staging.templates import Templates
from worker.staging.using import drop_one, use


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for number, name in enumerate(("new", "old", "older")):
        (root / name).mkdir(parents=True)
        (root / name / "file").touch()
        os.utime(root / name, (1000 - number, 2000 + number))
    return root


def names(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def test_what_was_used_last_the_longest_ago_goes_first(root: Path) -> None:
    assert drop_one(root)
    assert names(root) == ["new", "old"]
    held = use(root / "old")
    assert held is not None
    held.close()
    assert drop_one(root)
    assert names(root) == ["old"]
    assert drop_one(root)
    assert not drop_one(root)


def test_what_somebody_uses_stays(root: Path) -> None:
    held = [use(root / "older"), use(root / "older"), use(root / "old"), use(root / "new")]
    assert not drop_one(root)
    for one in held[:2]:
        assert one is not None
        one.close()
    assert drop_one(root)
    assert names(root) == ["new", "old"]
    for one in held[2:]:
        assert one is not None
        one.close()


def test_what_was_half_removed_goes_before_anything_else(root: Path) -> None:
    (root / ".gone-1").mkdir()
    assert drop_one(root)
    assert names(root) == ["new", "old", "older"]


def test_what_is_gone_can_not_be_used(root: Path) -> None:
    assert use(root / "none") is None


def test_a_template_that_went_is_made_again_and_one_in_use_stays(tmp_path: Path) -> None:
    root, drafts, blobs = tmp_path / "templates", tmp_path / "drafts", MemoryStore().blobs
    root.mkdir()
    drafts.mkdir()
    snapshot = Snapshot(commit="0" * 40, tree=blobs.put(a_tar({"a.txt": "A\n"})), size_bytes=1)
    one, other = Templates(root, drafts, blobs), Templates(root, drafts, blobs)
    first = one.ready(snapshot, None)
    assert other.ready(snapshot, None).tree == first.tree
    assert not drop_one(root)
    one.release()
    assert not drop_one(root)
    other.release()
    assert drop_one(root)
    assert not first.path.exists()
    again = one.ready(snapshot, None)
    assert (again.path, again.tree) == (first.path, first.tree)
    assert (again.path / "a.txt").read_text() == "A\n"
