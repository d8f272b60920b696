"""A host obeys each order once, and keeps it, whatever Redis or a new worker says."""

from pathlib import Path

import pytest

from farm.adapters.memory import MemoryDrainOrders, MemoryQueues
from farm.errors import SpecError
from farm.model import ANYWHERE, DrainKind, queue_of
from farm.testing.clock import FakeClock
from farm.testing.coordination import an_order
from worker.health.drain import Drain
from worker.health.duty import Duty, FarmWords
from worker.health.fitness import Fitness, Rest


def test_a_host_stays_drained_when_its_worker_starts_again_and_nobody_knows_the_order(tmp_path: Path) -> None:
    assert not Drain(tmp_path).is_drained
    assert Drain(tmp_path).obey(an_order(1))
    later = Drain(tmp_path)
    assert later.is_drained
    assert not later.obey(None)
    assert later.is_drained
    assert later.obey(an_order(2, DrainKind.UNDRAIN))
    assert not Drain(tmp_path).is_drained


def test_an_order_that_comes_back_after_a_later_one_is_not_obeyed_again(tmp_path: Path) -> None:
    drain = Drain(tmp_path)
    assert drain.obey(an_order(1, DrainKind.UNDRAIN))
    assert drain.obey(an_order(2))
    for known in (drain, Drain(tmp_path)):
        assert not known.obey(an_order(1, DrainKind.UNDRAIN))
        assert known.is_drained


def test_a_host_whose_disk_takes_nothing_obeys_all_the_same(tmp_path: Path) -> None:
    drain = Drain(tmp_path / "gone")
    assert drain.obey(an_order(1))
    assert drain.is_drained


def test_what_was_kept_and_can_not_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "drain.json").write_text("{")
    with pytest.raises(SpecError, match=r"drain\.json"):
        Drain(tmp_path)


def test_duty_follows_orders_and_takes_from_the_queues_whose_needs_are_there() -> None:
    orders, queues, fitness = MemoryDrainOrders(), MemoryQueues(FakeClock()), Fitness()
    ours, other = frozenset({"a", "b"}), frozenset({"a", "c"})
    queues.open(ours, 60)
    queues.open(other, 60)
    duty = Duty("h", FarmWords(orders, queues), fitness, Drain(None))
    assert not duty.look()
    assert (duty.queues(frozenset({"a", "b", "d"})), fitness.rest) == ({ANYWHERE, queue_of(ours)}, Rest.NONE)
    assert duty.queues(frozenset({"a", "b", "c"})) == {ANYWHERE, queue_of(ours), queue_of(other)}
    orders.give("h", an_order(1))
    orders.give("other", an_order(2, DrainKind.NOW))
    assert duty.look()
    assert (duty.queues(ours), fitness.rest, duty.order) == (frozenset(), Rest.TAKES_NOTHING, "order-1")
    assert duty.draining == "drained by \u00e9@desk at 2026-01-01 00:00 UTC"
    orders.give("h", an_order(3, DrainKind.NOW))
    assert (duty.look(), fitness.rest) == (True, Rest.STOPS_CELLS)
    orders.give("h", an_order(4, DrainKind.UNDRAIN))
    assert (duty.look(), fitness.rest, duty.draining) == (True, Rest.NONE, None)
    fitness.lose("the init is not dead")
    assert duty.queues(ours) == frozenset()
