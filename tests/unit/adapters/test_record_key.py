import pytest
from hypothesis import given
from hypothesis import strategies as st

from farm.adapters.record_key import checked_key, checked_prefix
from farm.errors import SpecError
from farm.model import CellId, SweepId, keys


def test_every_key_of_the_layout_is_allowed() -> None:
    sweep, cell = SweepId("name-0123456789ab.1"), CellId("task-1.arm-1.10")
    for key in (
        keys.plan_key(sweep),
        keys.claim_key(sweep, cell, 3),
        keys.result_key(sweep, cell),
        keys.verdict_key(sweep, "overlay"),
        keys.report_key(sweep, "report.html"),
    ):
        assert checked_key(key) == key


@given(st.text(max_size=40))
def test_an_allowed_key_stays_below_its_root(key: str) -> None:
    try:
        checked_key(key)
    except SpecError:
        return
    assert not key.startswith("/")
    assert not {"", ".", ".."} & set(key.split("/"))


@pytest.mark.parametrize("prefix", ["../", "/", "a//", "a/../b"])
def test_a_prefix_that_leaves_the_store_is_refused(prefix: str) -> None:
    with pytest.raises(SpecError, match="record"):
        checked_prefix(prefix)


def test_a_key_longer_than_s3_takes_is_refused() -> None:
    with pytest.raises(SpecError, match="record"):
        checked_key("/".join(["a" * 100] * 10))
