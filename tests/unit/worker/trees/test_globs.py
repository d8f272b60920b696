"""Globs, as pathlib's full match has them."""

import pytest

from worker.trees.globs import matches_any


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("src/**", "src/a.py"),
        ("src/**", "src/deep/er/a.py"),
        ("src/**", "src"),
        ("**", "a/b/c"),
        ("**/*.py", "a.py"),
        ("**/*.py", "x/y/a.py"),
        ("a/**/b", "a/b"),
        ("a/**/b", "a/x/y/b"),
        ("*.py", "a.py"),
        ("src/*.py", "src/.hidden.py"),
        ("file?.txt", "file1.txt"),
        ("[ab].txt", "a.txt"),
        ("[!ab].txt", "c.txt"),
        ("[]].txt", "].txt"),
        ("a+b (c).txt", "a+b (c).txt"),
        ("./src//a.py", "src/a.py"),
        ("odd\nname", "odd\nname"),
    ],
)
def test_a_glob_matches_the_whole_path(glob: str, path: str) -> None:
    assert matches_any(path, (glob,))


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("src/**", "srcs/a.py"),
        ("src/**", "lib/src/a.py"),
        ("*", "a/b"),
        ("*.py", "src/a.py"),
        ("src/*", "src/a/b"),
        ("a?b", "a/b"),
        ("a[!x]b", "a/b"),
        ("README", "readme"),
        ("a.py", "a.pyc"),
        ("a.py", "aXpy"),
        ("a/**/b", "ab"),
        ("[a-c]", "d"),
        ("odd", "odd\n"),
    ],
)
def test_a_glob_matches_nothing_else(glob: str, path: str) -> None:
    assert not matches_any(path, (glob,))


def test_no_glob_matches_nothing() -> None:
    assert not matches_any("a", ())
