"""`farm --help` and each verb's own help."""

import pytest

from farm.cli.verbs import VERBS
from tests.builders.farm_command import Desk


def test_help_lists_every_verb_in_the_order_a_person_meets_them(desk: Desk) -> None:
    ended = desk.farm("--help")
    listed = [line.split()[0] for line in ended.out.partition("Verbs:")[2].splitlines() if line.startswith("  ")]
    assert (ended.code, [verb for verb in listed if verb in VERBS]) == (0, list(VERBS))


@pytest.mark.parametrize("verb", VERBS)
def test_a_verbs_help_shows_an_example_of_itself(verb: str, desk: Desk) -> None:
    ended = desk.farm(verb, "--help")
    assert ended.code == 0
    assert f"farm {verb}" in ended.out.partition("Example:")[2]


def test_an_unknown_verb_is_refused(desk: Desk) -> None:
    ended = desk.farm("fly")
    assert ended.code == 2
    assert "fly" in ended.err
