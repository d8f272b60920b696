"""Templates: made once, whole or not at all, and named for all that went in."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from farm.adapters.memory import MemoryStore
from farm.errors import SpecError
from farm.model import Digest, Guidance, Overlay, Snapshot
from tests.builders.worker.farm import a_tar
from worker.staging.templates import Template, Templates

FILES = {"a.txt": "A\n", "bin/run": "#!/bin/sh\n"}


class Place:
    def __init__(self, root: Path) -> None:
        self.blobs = MemoryStore().blobs
        self.root, self.drafts = root / "templates", root / "drafts"
        self.root.mkdir()
        self.drafts.mkdir()

    def templates(self) -> Templates:
        return Templates(self.root, self.drafts, self.blobs)

    def snapshot(self, body: bytes | None = None) -> Snapshot:
        tree = self.blobs.put(a_tar(FILES) if body is None else body)
        return Snapshot(commit="0" * 40, tree=tree, size_bytes=1)

    def overlay(self, files: dict[str, str], *boundary: str) -> Overlay:
        return Overlay(files=self.blobs.put(a_tar(files)), boundary=boundary)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_template_holds_the_snapshots_files_and_a_repository(place: Place) -> None:
    made = place.templates().ready(place.snapshot(), None)
    assert set(made.tree.entries) == {"a.txt", "bin/run"}
    assert made.tree.entries["bin/run"].executable
    assert (made.path / ".git/HEAD").read_text() == "ref: refs/heads/main\n"
    assert list(place.drafts.iterdir()) == []


def test_the_same_inputs_make_the_same_commit_anywhere(place: Place, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Place(tmp_path / "other")
    refs = [
        (one.templates().ready(one.snapshot(), None).path / ".git/packed-refs").read_text() for one in (place, other)
    ]
    assert refs[0] == refs[1]


def test_slots_that_race_make_one_template(place: Place) -> None:
    snapshot = place.snapshot()

    def ready(_: int) -> Template:
        return place.templates().ready(snapshot, None)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(ready, range(4)))
    assert len({one.path for one in made}) == 1
    assert len({one.tree.digest for one in made}) == 1
    assert [path.name for path in place.root.iterdir()] == [made[0].path.name]
    assert list(place.drafts.iterdir()) == []


def test_an_overlay_makes_another_template_and_replaces_files(place: Place) -> None:
    templates = place.templates()
    bare = templates.ready(place.snapshot(), None)
    laid = templates.ready(place.snapshot(), place.overlay({"a.txt": "B\n", "docs/x.md": "x"}, "a.txt", "docs/**"))
    assert laid.path != bare.path
    assert set(laid.tree.entries) == {"a.txt", "bin/run", "docs/x.md"}
    assert (laid.path / "a.txt").read_text() == "B\n"
    assert (bare.path / "a.txt").read_text() == "A\n"


def test_an_overlay_below_a_path_that_the_repository_ignores_is_committed_too(place: Place) -> None:
    snapshot = place.snapshot(a_tar({".gitignore": ".agent/\n", "a.txt": "A\n"}))
    made = place.templates().ready(snapshot, place.overlay({".agent/skills/work.md": "Work.\n"}, ".agent/**"))
    listed = subprocess.run(
        ["git", "-C", made.path, "-c", "safe.directory=*", "ls-tree", "-r", "--name-only", "HEAD"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout.split() == [".agent/skills/work.md", ".gitignore", "a.txt"]


BLOCK = "<!-- graph:start -->\nUse the graph.\n<!-- graph:end -->\n"


def test_guidance_is_taken_out_of_the_overlays_files_and_the_snapshots(place: Place) -> None:
    files = {"AGENTS.md": f"Be brief.\n{BLOCK}", "docs/CLAUDE.md": BLOCK, "docs/graph.md": BLOCK}
    snapshot = place.snapshot(a_tar(files))
    guidance = Guidance(blocks=("graph",), note="There is no graph.")
    overlay = place.overlay({"src/AGENTS.md": f"{BLOCK}Test.\n"}, "src/**").model_copy(update={"guidance": guidance})
    templates = place.templates()
    made, plain = templates.ready(snapshot, overlay), templates.ready(snapshot, None)
    assert made.path != plain.path
    assert {path: (made.path / path).read_text() for path in made.tree.entries} == {
        "AGENTS.md": "Be brief.\n\nThere is no graph.\n",
        "docs/CLAUDE.md": "There is no graph.\n",
        "docs/graph.md": BLOCK,
        "src/AGENTS.md": "Test.\n\nThere is no graph.\n",
    }
    assert (plain.path / "AGENTS.md").read_text() == files["AGENTS.md"]


@pytest.mark.parametrize("body", ["<!-- graph:start -->\n", b"\xff"])
def test_guidance_that_can_not_be_taken_out_leaves_no_template(place: Place, body: str | bytes) -> None:
    snapshot, guidance = place.snapshot(a_tar({"AGENTS.md": body})), Guidance(blocks=("graph",))
    with pytest.raises(SpecError, match=r"the guidance of 'AGENTS\.md' can't be taken out"):
        place.templates().ready(snapshot, Overlay(guidance=guidance))
    assert [list(folder.iterdir()) for folder in (place.root, place.drafts)] == [[], []]


@pytest.mark.parametrize(
    ("files", "boundary"),
    [
        ({"a.txt": "B"}, ()),
        ({"docs/x.md": "x", "a.txt": "B"}, ("docs/**",)),
        ({"bin": "a file"}, ("**",)),
        ({"a.txt/x": "below a file"}, ("**",)),
    ],
)
def test_an_overlay_that_does_not_fit_is_refused_and_leaves_nothing(
    place: Place, files: dict[str, str], boundary: tuple[str, ...]
) -> None:
    with pytest.raises(SpecError):
        place.templates().ready(place.snapshot(), place.overlay(files, *boundary))
    assert [list(folder.iterdir()) for folder in (place.root, place.drafts)] == [[], []]


def test_a_snapshot_that_is_no_tar_is_refused(place: Place) -> None:
    with pytest.raises(SpecError, match="snapshot can't be unpacked"):
        place.templates().ready(place.snapshot(b"garbage" * 200), None)


def test_an_empty_snapshot_makes_an_empty_repository(place: Place) -> None:
    assert place.templates().ready(place.snapshot(a_tar({})), None).tree.digest == Digest.of(b"")
    assert os.listdir(next(place.root.iterdir())) == [".git"]  # noqa: PTH208 (names are what is asked)
