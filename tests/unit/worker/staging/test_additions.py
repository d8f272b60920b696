"""What a task adds to its snapshot."""

from pathlib import Path

import pytest

from farm.adapters.memory import MemoryStore
from farm.errors import SpecError
from farm.model import CopiedAsset
from tests.builders.worker.farm import a_tar
from worker.staging.additions import Additions


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "ws/src").mkdir(parents=True)
    (tmp_path / "ws/src/a.py").write_text("A\n")
    return tmp_path / "ws"


def lay(workspace: Path, additions: Additions, store: MemoryStore) -> None:
    additions.lay(workspace, workspace.with_name("scratch"), store.blobs)


def test_case_13_a_link_at_a_targets_parent_is_never_followed_out_of_the_workspace(
    workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (workspace / "lib").symlink_to(tmp_path / "outside")
    store = MemoryStore()
    copies = (CopiedAsset(files=store.blobs.put(a_tar({"lib/x": "x\n"})), target="lib/x"),)
    for additions in (Additions(copies=copies), Additions(links={"lib/deps": "/cell/deps/1/deps"})):
        with pytest.raises(SpecError, match="which is no folder in the workspace"):
            lay(workspace, additions, store)
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_link_stands_where_nothing_else_does(workspace: Path) -> None:
    lay(workspace, Additions(links={"app/node_modules": "/cell/deps/1/node_modules"}), MemoryStore())
    assert str((workspace / "app/node_modules").readlink()) == "/cell/deps/1/node_modules"
    for taken in ("src", "src/a.py", "app/node_modules", "src/a.py/below"):
        with pytest.raises(SpecError):
            lay(workspace, Additions(links={taken: "/cell/deps/1/x"}), MemoryStore())


def test_a_tar_that_is_none_is_the_tasks_fault_and_leaves_no_scratch(workspace: Path) -> None:
    store = MemoryStore()
    copies = (CopiedAsset(files=store.blobs.put(b"no tar"), target="lib"),)
    with pytest.raises(SpecError, match="can't be unpacked"):
        lay(workspace, Additions(copies=copies), store)
    assert not workspace.with_name("scratch").exists()


def test_what_determines_additions_is_all_of_them_in_one_order() -> None:
    links = {"b": "/cell/deps/2/b", "a": "/cell/deps/1/a"}
    assert Additions().key == []
    assert Additions(links=links).key == Additions(links=dict(reversed(links.items()))).key
    assert Additions(links=links).key != Additions(links={**links, "c": "/cell/deps/3/c"}).key
