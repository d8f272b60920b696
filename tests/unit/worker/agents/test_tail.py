"""A guest's words in one bounded line, which is redacted later: no part of a secret is left at a cut."""

import pytest

from farm.redaction import Redactor
from worker.agents.lines import JsonLines
from worker.agents.tail import Tail, beginning, preview

TOKEN = "sk-ant-api03-" + "a1B2" * 10


def around(most: int) -> list[str]:
    """Give texts with the token at each place around a cut after `most` characters."""
    return ["x " * ((most - 80) // 2) + "y" * more + f" {TOKEN} and more words" * 3 for more in range(80)]


def test_the_beginning_of_a_message_ends_with_a_whole_word() -> None:
    for text in around(500):
        found = beginning(text) or ""
        assert 400 < len(found) <= 500
        assert "a1B2" not in Redactor().text(found)


@pytest.mark.parametrize("most", [500, 4000])
def test_the_end_of_what_was_said_begins_with_a_whole_word(most: int) -> None:
    for more in range(80):
        tail = Tail()
        tail.feed(f"{TOKEN} {TOKEN} ".encode() + b" " * (most - 500))
        tail.feed(b"x" * (440 + more))
        assert tail.text is not None
        assert "a1B2" not in Redactor().text(tail.text)


def test_what_is_previewed_is_as_long_as_its_redaction_needs() -> None:
    for text in around(200):
        assert TOKEN in preview(text)
        assert preview({"command": text}).count(TOKEN) == 3
    assert len(preview("word " * 10_000)) <= 4000


def test_a_line_that_is_no_json_is_shown_without_a_part_of_a_word() -> None:
    for text in around(200):
        lines = JsonLines()
        lines.feed(text.encode() + b"\n")
        assert lines.problem is not None
        assert "a1B2" not in Redactor().text(lines.problem)
