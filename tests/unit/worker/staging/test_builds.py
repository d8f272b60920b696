"""Builds on a host: whose turn it is, what failed, and what is hidden by name."""

from pathlib import Path

import pytest

from farm.model import Digest, SweepId
from worker.staging.builds import build_site, hidden_names

LOCK = Digest("a" * 64)
SWEEP, OTHER = SweepId("one-aaaaaaaaaaaa.1"), SweepId("two-aaaaaaaaaaaa.1")


class TurnedAwayError(Exception):
    """Somebody else has it."""


def turn_away() -> None:
    raise TurnedAwayError


def test_one_slot_at_a_time_has_a_build(tmp_path: Path) -> None:
    with build_site(tmp_path, LOCK, turn_away), pytest.raises(TurnedAwayError), build_site(tmp_path, LOCK, turn_away):
        pass
    with build_site(tmp_path, LOCK, turn_away), build_site(tmp_path, Digest("b" * 64), turn_away):
        pass


def test_a_failure_is_known_in_its_sweep_alone(tmp_path: Path) -> None:
    with build_site(tmp_path, LOCK, turn_away) as site:
        assert site.failure(SWEEP) is None
        site.fail(SWEEP, "it broke")
    with build_site(tmp_path, LOCK, turn_away) as site:
        assert (site.failure(SWEEP), site.failure(OTHER)) == ("it broke", None)


def test_a_torn_note_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text('{"sweep": "one')
    with build_site(tmp_path, LOCK, turn_away) as site:
        assert site.failure(SWEEP) is None


@pytest.mark.parametrize(
    ("glob", "name"),
    [
        ("eval/hidden.py", "eval/hidden.py"),
        ("eval/bench/**", "eval/bench/"),
        ("tests/hidden_*.py", "tests/hidden_"),
        ("**/secret_*.py", "secret_"),
        ("*.hidden", ".hidden"),
        ("test[0-9]/answers/*", "test"),
        ("eval/./hidden.py", "eval/hidden.py"),
    ],
)
def test_a_glob_of_hidden_files_gives_what_is_literal_in_it(glob: str, name: str) -> None:
    assert hidden_names((glob,)) == (name,)


def test_a_glob_without_a_name_gives_nothing() -> None:
    assert hidden_names(("**", "*/*")) == ()
