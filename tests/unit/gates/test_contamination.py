import pytest

from farm.gates.contamination import Contamination, Likeness, contaminations
from farm.gates.table import Row
from farm.model import Churn
from tests.builders.gates import OFF, ON, At, a_digest, a_row

LEAST_CHANGE, LEAST_COUNTS = 10, 50


def changed(arm: str, lines: int | None, left: str | None, trial: int = 1, task: str = "answer") -> Row:
    """Leave a change of one file that adds all lines but one, and removes that one."""
    added, removed = (None, None) if lines is None else (lines - 1, 1)
    fingerprint = None if left is None else a_digest(left)
    churn = Churn(files=1, added_lines=added, removed_lines=removed, binary_files=0, fingerprint=fingerprint)
    return a_row(At(arm, trial, task), churn=churn)


def likenesses(*rows: Row) -> list[Likeness]:
    return [found.likeness for found in contaminations(rows)]


def test_arms_with_identical_churn_and_bytes_raise_the_alarm_with_their_cells_named() -> None:
    (found,) = contaminations((changed(OFF, 120, "a"), changed(ON, 120, "a")))
    assert found == Contamination(
        likeness=Likeness.BYTES,
        cells=(f"answer.{OFF}.1", f"answer.{ON}.1"),
        files=1,
        added_lines=119,
        removed_lines=1,
    )
    assert found.sentence == (
        f"Contamination? answer.{OFF}.1, answer.{ON}.1 left the same change (1 file, +119 -1 lines): "
        "look whether one found another's work."
    )


def test_the_same_small_fix_is_no_contamination() -> None:
    assert likenesses(changed(OFF, LEAST_CHANGE - 1, "a"), changed(ON, LEAST_CHANGE - 1, "a")) == []
    assert likenesses(changed(OFF, LEAST_CHANGE, "a"), changed(ON, LEAST_CHANGE, "a")) == [Likeness.BYTES]


def test_equal_counts_of_different_bytes_are_told_from_fifty_lines_on() -> None:
    assert likenesses(changed(OFF, LEAST_COUNTS - 1, "a"), changed(ON, LEAST_COUNTS - 1, "b")) == []
    assert likenesses(changed(OFF, LEAST_COUNTS, "a"), changed(ON, LEAST_COUNTS, "b")) == [Likeness.COUNTS]


def test_changes_that_could_not_all_be_read_are_compared_by_their_counts() -> None:
    assert likenesses(changed(OFF, 9000, None), changed(ON, 9000, None)) == [Likeness.COUNTS]


def test_the_same_bytes_of_more_than_can_be_counted_is_told_and_unknown_counts_alone_are_not() -> None:
    assert likenesses(changed(OFF, None, "a"), changed(ON, None, "a")) == [Likeness.BYTES]
    assert likenesses(changed(OFF, None, "a"), changed(ON, None, "b")) == []


@pytest.mark.parametrize("other", [changed(ON, 120, "a", trial=2), changed(ON, 120, "a", task="other")])
def test_other_trials_and_other_tasks_are_not_compared(other: Row) -> None:
    assert likenesses(changed(OFF, 120, "a"), other) == []


def test_cells_that_changed_nothing_are_alike_without_an_alarm() -> None:
    nothing = Churn(files=0, added_lines=0, removed_lines=0, binary_files=0)
    assert likenesses(a_row(At(ON), churn=nothing), a_row(At(OFF), churn=nothing), a_row(At("third"))) == []


def test_of_three_alike_the_two_with_the_same_bytes_are_named_beside_all_three() -> None:
    found = contaminations((changed("a", 80, "x"), changed("b", 80, "y"), changed("c", 80, "x")))
    assert [(one.likeness, len(one.cells)) for one in found] == [(Likeness.BYTES, 2), (Likeness.COUNTS, 3)]
