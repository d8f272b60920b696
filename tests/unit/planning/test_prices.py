"""Price tables: pinned by what they say, and one clear line for what is wrong with them."""

from pathlib import Path

import pytest

from farm.errors import SpecError
from farm.planning.prices import read_prices


def _table(folder: Path, text: str) -> Path:
    path = folder / "prices.yaml"
    path.write_text(text)
    return path


def test_a_table_is_pinned_as_it_was_written(tmp_path: Path) -> None:
    text = "models:\n  m: {input: 4, output: 20, cache_read: 0.2, cache_write: 5}\n"
    assert read_prices(_table(tmp_path, text)) == (
        b'{"models":{"m":{"cache_read":"0.2","cache_write":"5","cache_write_1h":null,"input":"4","output":"20"}},'
        b'"schema_version":1}\n'
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("models: {}\n", r"prices\.yaml:1"),
        ("models:\n  m: {input: 4, output: 20, cache_read: 1}\n", r"prices\.yaml:2.*cache_write"),
        ("models:\n  m: {input: -4, output: 20, cache_read: 1, cache_write: 1}\n", r"prices\.yaml:2.*input"),
        ("models:\n  m: {input: much, output: 20, cache_read: 1, cache_write: 1}\n", r"prices\.yaml:2.*input"),
        ("models: [\n", "is not YAML"),
        ("a: 1\na: 2\n", r"prices\.yaml:2"),
        ("", r"prices\.yaml"),
        ("just text\n", r"prices\.yaml"),
    ],
)
def test_a_wrong_table_is_refused_in_words_that_find_the_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        read_prices(_table(tmp_path, text))


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"no file .*none\.yaml"):
        read_prices(tmp_path / "none.yaml")
