"""Shards of one sweep, each with a coordinator, leases and workers of its own, over one store."""

from collections import Counter

import pytest

from farm.adapters.memory import MemoryStore
from farm.coordinator.loop import CoordinatorEnd, EndKind
from farm.errors import SpecError
from farm.finalizer.closing import open_cells, open_shards
from farm.finalizer.finalize import Finalized
from farm.model import BreakerPolicy, CloseReason, FaultKind, Opening, Plan, Shard, Ticket, parse_record, shards
from farm.model.keys import close_key, open_key
from tests.builders.finalizing import run as finalized
from tests.builders.sweeps import Farm, Finding, a_plan, evidence, fault

OF = 3


def right(_ticket: Ticket) -> Finding:
    return evidence()


def farms(plan: Plan) -> list[Farm]:
    store = MemoryStore()
    return [Farm.of_shard(plan, shard, store) for shard in shards(OF)]


def opening_of(farm: Farm) -> Opening:
    return parse_record(Opening, farm.records.read(open_key(farm.sweep)) or b"", "open")


def left(farm: Farm) -> int:
    return open_cells(opening_of(farm), farm.plan, farm.records)


def reason(end: CoordinatorEnd) -> CloseReason | None:
    assert end.kind is EndKind.CLOSED
    return None if end.close is None else end.close.reason


def check_whole(done: Finalized, plan: Plan) -> None:
    assert [cell.cell for cell in done.report.settlement.cells] == [cell.id for cell in plan.cells]
    assert all(cell.result is not None for cell in done.report.settlement.cells)
    assert Counter(row.attempts for row in done.report.table.rows) == {1: len(plan.cells)}


def test_each_shard_runs_its_own_cells_and_the_last_makes_the_sweep_whole() -> None:
    plan = a_plan(trials=8)
    one, two, three = farms(plan)
    assert one.sweep == two.sweep == three.sweep
    assert reason(two.run(two.works(right))) is CloseReason.COMPLETE
    assert two.seen[-1].planned == two.seen[-1].done == len(two.results()) == len(Shard(number=2, of=OF).cells(plan))
    assert left(two) == len(plan.cells) - len(two.results())
    assert [str(shard) for shard in open_shards(two.sweep, OF, two.records)] == ["1/3", "3/3"]
    assert one.records.read(close_key(one.sweep)) is None
    for farm in (one, three):
        farm.run(farm.works(right))
    assert left(one) == 0
    check_whole(finalized(one), plan)


def test_shards_at_the_same_time_touch_none_of_each_others_cells() -> None:
    plan = a_plan(trials=8)
    one, two, three = farms(plan)
    steps = [farm.works(right) for farm in (two, three)]
    others = [two.coordinator("b"), three.coordinator("c")]
    ends = dict[int, CoordinatorEnd]()

    def step(turn: int) -> None:
        one.works(right)(turn)
        if turn in (1, 2):  # the others run whole in the middle of this one
            farm, coordinator = (two, three)[turn - 1], others[turn - 1]
            ends[turn] = farm.run(steps[turn - 1], coordinator)

    assert reason(one.run(step)) is CloseReason.COMPLETE
    assert [reason(end) for end in ends.values()] == [CloseReason.COMPLETE] * 2
    check_whole(finalized(two), plan)


def test_a_shard_that_was_interrupted_goes_on_where_it_was() -> None:
    plan = a_plan(trials=40)
    one, *rest = farms(plan)
    works = one.works(right)
    end = one.run(lambda turn: works(turn) or len(one.results()) >= 2)
    assert end.kind is EndKind.INTERRUPTED
    had = len(one.results())
    assert 0 < had < len(Shard(number=1, of=OF).cells(plan))
    for farm in (one, *rest):
        assert reason(farm.run(farm.works(right), farm.coordinator("again"))) is CloseReason.COMPLETE
    check_whole(finalized(one), plan)


def test_the_breaker_is_each_shards_own_and_the_sweep_says_which_tripped() -> None:
    plan = a_plan(trials=24, breaker=BreakerPolicy(streak=3))
    one, two, three = farms(plan)
    assert reason(two.run(two.works(lambda _: fault(FaultKind.TASK)))) is CloseReason.BREAKER
    for farm in (one, three):
        assert reason(farm.run(farm.works(right))) is CloseReason.COMPLETE
    assert left(one) == 0
    done = finalized(one)
    assert (done.report.close.reason, done.exit_code) == (CloseReason.BREAKER, 7)
    assert done.report.close.detail.startswith("shard 2/3: 3 unusable results in a row")
    assert len(done.report.close.shards) == 2 * OF


def test_a_cancel_ends_every_shard_and_needs_none_of_their_records() -> None:
    plan = a_plan(trials=8)
    one, two, _ = farms(plan)
    one.cancel("enough")
    for farm in (one, two):
        end = farm.run(farm.works(right))
        assert reason(end) is CloseReason.CANCELLED
    assert left(one) == 0
    assert finalized(two).report.close.reason is CloseReason.CANCELLED


def test_a_sweep_in_shards_is_led_by_no_coordinator_that_names_none() -> None:
    one, *_ = farms(a_plan())
    one.shard = None
    with pytest.raises(SpecError, match="opened in 3 shards: name one, for example --shard 1/3"):
        one.run(one.works(right))
    one.shard = Shard(number=1, of=2)
    with pytest.raises(SpecError, match="opened in 3 shards, not 2"):
        one.run(one.works(right))


def test_a_sweep_in_one_piece_is_led_by_no_coordinator_that_names_a_shard() -> None:
    farm = Farm(a_plan())
    farm.shard = Shard(number=1, of=2)
    with pytest.raises(SpecError, match="opened in one piece"):
        farm.run(farm.works(right))
