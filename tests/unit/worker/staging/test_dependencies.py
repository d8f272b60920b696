"""Dependencies on a host: laid out once, and never believed again once they changed."""

from pathlib import Path

import pytest

from farm.adapters.memory import MemoryStore
from farm.errors import IntegrityError
from farm.model import Dependency
from tests.builders.worker.farm import a_tar
from worker.staging.dependencies import Dependencies, ensure_untouched
from worker.trees.scan import Tree

NOTHING = Tree({})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("dependencies", "drafts"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_a_copy_that_changed_is_laid_anew_for_the_next_cell_and_the_next_worker(root: Path) -> None:
    blobs = MemoryStore().blobs
    wanted = (Dependency(files=blobs.put(a_tar({"left/index.js": "7\n"})), target="node_modules"),)
    slot, other, next_worker = (Dependencies(root / "dependencies", root / "drafts", blobs) for _ in range(3))
    laid, beside = slot.ready(wanted), other.ready(wanted)
    ensure_untouched(laid, NOTHING, NOTHING)
    (laid[0].source / "left/index.js").write_text("8\n")
    for found in (laid, beside):  # whoever had it beside us had it changed, too
        with pytest.raises(IntegrityError, match="the dependency at 'node_modules' changed while the sessions ran"):
            ensure_untouched(found, NOTHING, NOTHING)
    slot.release()
    other.release()
    for one in (slot, next_worker):
        (again,) = one.ready(wanted)
        assert (again.source / "left/index.js").read_text() == "7\n"
        ensure_untouched((again,), NOTHING, NOTHING)
        one.release()
