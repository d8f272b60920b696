import pytest

from farm.model import matches_any


@pytest.mark.parametrize(
    ("path", "glob", "matches"),
    [
        ("src/a.py", "src/a.py", True),
        ("src/a.py", "src/*", True),
        ("src/x/a.py", "src/*", False),
        ("src/x/a.py", "src/**", True),
        ("src", "src/**", True),
        ("a.py", "**/*.py", True),
        ("x/y/a.py", "**/*.py", True),
        ("src/a.py", "src/?.py", True),
        ("src/ab.py", "src/[!b]?.py", True),
        ("src/ab.py", "src/[!a]?.py", False),
        (".env", "*", True),
        ("SRC/a.py", "src/*", False),
        ("src/a.py\n", "src/*.py", False),
        ("src/a+b", "src/a+b", True),
        ("srcs/a", "src*", False),
    ],
)
def test_a_glob_matches_whole_paths(path: str, glob: str, *, matches: bool) -> None:
    assert matches_any(path, (glob,)) is matches


def test_no_glob_matches_nothing() -> None:
    assert not matches_any("a", ())
