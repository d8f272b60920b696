"""The scope of a workspace."""

from farm.model import Scope
from worker.cell.scope import out_of_scope
from worker.trees.scan import Entry, EntryKind, Tree

FILE = Entry(EntryKind.FILE, executable=False, size=10, content="1")
OTHER = Entry(EntryKind.FILE, executable=False, size=300_000, content="2")
LINK = Entry(EntryKind.LINK, executable=False, size=3, content="3")

BEFORE = Tree({"src/a": FILE, "b": FILE})
AFTER = Tree({"src/a": OTHER, "c": LINK})


def test_without_globs_anything_may_change() -> None:
    assert out_of_scope(BEFORE, AFTER, Scope()) == ()


def test_with_no_glob_nothing_may_change() -> None:
    assert out_of_scope(BEFORE, AFTER, Scope(allowed=())) == ("b", "c", "src/a")


def test_only_what_no_glob_matches_is_out_of_scope() -> None:
    assert out_of_scope(BEFORE, AFTER, Scope(allowed=("src/**", "b"))) == ("c",)


def test_bounds_hold_for_the_whole_workspace_and_want_regular_files() -> None:
    bounded = Scope(most_files=1, most_file_bytes=256_000)
    assert out_of_scope(AFTER, AFTER, bounded) == (
        "c (no regular file)",
        "src/a (300000 bytes, where at most 256000 may be)",
    )
    assert out_of_scope(BEFORE, BEFORE, bounded) == ("2 files, where at most 1 may be",)
    assert out_of_scope(BEFORE, BEFORE, Scope(most_files=2)) == ()


def test_a_long_list_is_cut_and_names_are_made_printable() -> None:
    many = Tree({f"{number:04}\udcff": FILE for number in range(500)})
    found = out_of_scope(Tree({}), many, Scope(allowed=()))
    assert (len(found), found[0]) == (200, "0000\\xff")
