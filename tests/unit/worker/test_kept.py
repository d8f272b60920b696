"""What is kept of what is dear to make."""

import pytest

from worker.kept import Kept


def test_the_values_that_were_used_last_are_made_once() -> None:
    kept: Kept[str, str] = Kept(2)
    made = []

    def get(key: str) -> str:
        def make() -> str:
            made.append(key)
            return key.upper()

        return kept.get_or(key, make)

    assert [get(key) for key in "abacab"] == ["A", "B", "A", "C", "A", "B"]
    assert made == ["a", "b", "c", "b"]


def test_what_could_not_be_made_is_made_at_the_next_call() -> None:
    kept: Kept[str, int] = Kept(1)
    with pytest.raises(ZeroDivisionError):
        kept.get_or("a", lambda: 1 // 0)
    assert kept.get_or("a", lambda: 1) == 1
