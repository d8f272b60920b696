"""The table of durations that a sweep leaves to the next."""

from farm.reporting.durations import expected_durations
from tests.builders.gates import OFF, ON, At, a_row


def test_nine_in_ten_measured_cells_end_within_the_expected_duration() -> None:
    lasted = [float(seconds) for seconds in range(1, 21)]
    rows = [a_row(At(ON, trial=trial), duration_s=seconds) for trial, seconds in enumerate(reversed(lasted), 1)]
    found = expected_durations([*rows, a_row(At(OFF), duration_s=2.0), a_row(At(OFF, trial=2), duration_s=None)])
    (task,) = found
    assert found[task] == {ON: 18.0, OFF: 2.0}
    assert sum(seconds <= 18.0 for seconds in lasted) >= 0.9 * len(lasted)


def test_of_few_cells_it_is_the_longest_and_of_none_nothing() -> None:
    assert list(expected_durations([a_row(At(ON), duration_s=4.5)]).values()) == [{ON: 4.5}]
    assert expected_durations([a_row(At(ON), duration_s=None)]) == {}
