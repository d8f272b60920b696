"""Shards: every cell in one, what is paired in the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farm.model import Shard, shards
from tests.builders.sweeps import a_plan


@given(trials=st.integers(1, 30), of=st.integers(2, 9), seed=st.randoms())
def test_every_cell_is_in_one_shard_with_its_block(trials: int, of: int, seed) -> None:
    plan = a_plan(trials=trials)
    cells = list(plan.cells)
    seed.shuffle(cells)
    plan = plan.model_copy(update={"cells": tuple(cells)})
    parts = [shard.cells(plan) for shard in shards(of)]
    assert sorted(index for part in parts for index in part) == list(range(len(plan.cells)))
    blocks = [{(plan.cells[index].task, plan.cells[index].trial) for index in part} for part in parts]
    assert sum(map(len, blocks)) == trials
    assert max(map(len, blocks)) - min(map(len, blocks)) <= 1


@pytest.mark.parametrize("text", ["", "2", "0/4", "5/4", "1/1", "a/b", "1/0", "-1/4", "1/4/2", "01/4", "1/99999"])
def test_what_is_no_shard_is_refused_by_its_text(text: str) -> None:
    with pytest.raises(ValueError, match="is no shard"):
        Shard.parse(text)


def test_a_shard_is_written_as_it_is_read() -> None:
    assert str(Shard.parse("2/4")) == "2/4"


def test_a_sweep_in_one_piece_has_no_shards() -> None:
    assert shards(1) == ()
