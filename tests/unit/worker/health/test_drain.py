"""A host obeys each order once, and keeps it, whatever Redis or a new worker says."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from farm.adapters.memory import MemoryDrainOrders, MemoryQueues
from farm.errors import SpecError, TransientError
from farm.model import ANYWHERE, DrainKind, DrainOrder, queue_of
from farm.testing.clock import FakeClock
from farm.testing.coordination import an_order
from worker.health.drain import Drain
from worker.health.duty import Duty, FarmWords, OwnState
from worker.health.fitness import Fitness, Rest
from worker.health.suspension import Suspension
from worker.health.trial import Proof


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


@dataclass
class Desk:
    """A host's duty, and all that it listens to."""

    short: str | None = None
    orders: MemoryDrainOrders = field(default_factory=MemoryDrainOrders)
    queues: MemoryQueues = field(default_factory=lambda: MemoryQueues(FakeClock()))
    fitness: Fitness = field(default_factory=Fitness)

    def __post_init__(self) -> None:
        suspension = Suspension(self.fitness.ends, Waiting, FakeClock())
        own = OwnState(Drain(None), suspension, lambda: self.short)
        self.duty = Duty("h", FarmWords(self.orders, self.queues), self.fitness, own)


class Waiting:
    """A preflight without end."""

    proof: Proof | None = None


def test_duty_follows_orders_and_takes_from_the_queues_whose_needs_are_there() -> None:
    desk = Desk()
    orders, duty, fitness = desk.orders, desk.duty, desk.fitness
    ours, other = frozenset({"a", "b"}), frozenset({"a", "c"})
    desk.queues.open(ours, 60)
    desk.queues.open(other, 60)
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
    assert (duty.queues(ours), duty.problem) == (frozenset(), "the init is not dead")


def test_a_host_that_is_short_of_disk_takes_nothing_until_there_is_room_whatever_redis_says() -> None:
    desk = Desk(short="no room")
    assert desk.duty.look()
    assert (desk.duty.problem, desk.fitness.rest, desk.duty.queues(frozenset())) == (
        "no room",
        Rest.TAKES_NOTHING,
        frozenset(),
    )
    desk.short = None
    assert desk.duty.look()
    assert (desk.duty.problem, desk.fitness.rest) == (None, Rest.NONE)


def test_own_reasons_count_also_while_redis_is_away() -> None:
    class Away(MemoryDrainOrders):
        def last(self, host: str) -> DrainOrder | None:  # noqa: ARG002 (the port's signature)
            raise TransientError("no answer")

    desk = Desk(short="no room", orders=Away())
    with pytest.raises(TransientError):
        desk.duty.look()
    assert desk.fitness.rest is Rest.TAKES_NOTHING


def test_a_host_that_drained_itself_takes_nothing_until_a_person_undrains_it() -> None:
    desk = Desk()
    for _ in range(3):
        desk.fitness.ends.tell("no disk")
    assert desk.duty.look()
    assert desk.duty.draining is not None
    assert desk.duty.draining.startswith("drained itself: 3 cells running failed")
    assert (desk.fitness.rest, desk.duty.queues(frozenset())) == (Rest.TAKES_NOTHING, frozenset())
    desk.orders.give("h", an_order(1, DrainKind.UNDRAIN))
    assert desk.duty.look()
    assert (desk.duty.draining, desk.fitness.rest) == (None, Rest.NONE)
