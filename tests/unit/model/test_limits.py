"""The limits that a person may write."""

import pytest
from pydantic import ValidationError

from farm.model import GIB, KIB, MIB, CheckLimits, Limits


def test_a_disk_is_not_capped_unless_it_is_asked_for() -> None:
    assert (Limits().disk_bytes, Limits().inodes, Limits().disk_inodes) == (None, None, None)


def test_a_disk_has_an_inode_for_each_16_kib_unless_it_is_told() -> None:
    assert Limits(disk_bytes=2 * GIB).disk_inodes == 2 * GIB // (16 * KIB)
    assert Limits(disk_bytes=2 * GIB, inodes=1000).disk_inodes == 1000


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"inodes": 10}, "set disk_bytes too"),
        ({"disk_bytes": MIB, "inodes": 257}, "has 256 at most"),
        ({"disk_bytes": MIB - 1}, "greater than or equal to 1048576"),
        ({"disk_bytes": MIB, "inodes": 0}, "greater than 0"),
    ],
)
def test_a_disk_that_can_not_be_is_refused(limits: dict[str, int], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Limits(**limits)  # type: ignore[arg-type]


def test_a_check_has_no_disk_of_its_own() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        CheckLimits.model_validate({"disk_bytes": MIB})
