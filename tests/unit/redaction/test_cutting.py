"""Text that is cut before it is redacted."""

import pytest

from farm.redaction import first_words, last_words


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("", "", ""),
        ("one two", "one two", "one two"),
        ("one two three", "one two…", "…three"),
        ("one secretsecret", "one…", "…"),
        ("secretsecret one", "…", "…one"),
        ("secretsecret", "…", "…"),
        ("abcdefgh ijklmnop", "abcdefgh…", "…ijklmnop"),
    ],
)
def test_no_part_of_a_word_is_left(text: str, first: str, last: str) -> None:
    assert (first_words(text, 9), last_words(text, 9)) == (first, last)
