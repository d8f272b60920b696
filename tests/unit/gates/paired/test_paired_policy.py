import pytest

from farm.errors import SpecError
from farm.gates.paired.policy import read_policy


def test_a_policy_without_options_pins_every_number() -> None:
    assert read_policy({}).model_dump(mode="json") == {
        "metric": "correct",
        "question": "superiority",
        "margin": 0,
        "alpha": 0.05,
        "least_coverage": 0.9,
        "pairs": [],
        "control": None,
        "seed": 0,
    }


@pytest.mark.parametrize(
    ("name", "number"),
    [("margin", -0.001), ("alpha", 0), ("alpha", 1), ("least_coverage", 0), ("least_coverage", 1.001), ("seed", -1)],
)
def test_a_number_beyond_its_range_is_refused_by_name(name: str, number: float) -> None:
    with pytest.raises(SpecError, match=name):
        read_policy({name: number})


@pytest.mark.parametrize(
    ("name", "number"),
    [("margin", 0), ("alpha", 0.001), ("alpha", 0.999), ("least_coverage", 0.001), ("least_coverage", 1), ("seed", 0)],
)
def test_a_number_at_the_end_of_its_range_is_taken(name: str, number: float) -> None:
    assert getattr(read_policy({name: number}), name) == number
