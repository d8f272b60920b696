"""Tests that no honest run lets pass: one that passes shows that something changed how tests are judged."""


def test_a_false_claim_fails() -> None:
    assert [1, 2] == [2, 1]  # noqa: S101 (a test, by its trade)


def test_an_error_fails() -> None:
    raise ValueError("this is how it must be")
