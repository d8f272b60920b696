"""Lanes against a list that does the same in the plainest way."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from farm.coordinator import effects as out
from farm.coordinator import events as on
from farm.coordinator.lanes import NO_HOST, Lanes
from farm.coordinator.machine import Policies, Stage, State, advance, begin

lanes = st.lists(st.integers(0, 3), max_size=40).map(tuple)
closings = st.lists(st.sets(st.integers(0, 4)).map(frozenset), max_size=8)


@given(of=lanes, closed=closings)
def test_a_closed_lane_is_passed_over_unless_all_are(of: tuple[int, ...], closed: list[frozenset[int]]) -> None:
    found = Lanes.numbered(of)
    for these in closed:
        found = found.close(these)
        shut = set() if set(of) <= these or len(set(of)) < 2 else these & set(of)
        assert [found.is_closed(index) for index in range(len(of))] == [lane in shut for lane in of]
        for start in range(len(of) + 2):
            open_ones = (index for index in range(start, len(of)) if of[index] not in shut)
            assert found.next_open(start) == next(open_ones, max(start, len(of)))


@given(of=st.lists(st.integers(0, 2), min_size=1, max_size=30).map(tuple), closed=closings, data=st.data())
def test_whatever_closes_and_opens_every_cell_is_sent_in_its_lanes_order_and_ends(
    of: tuple[int, ...], closed: list[frozenset[int]], data: st.DataObject
) -> None:
    state = begin(len(of), Policies())
    state, offered = _with_lanes(state, of), list[int]()
    for these in (*closed, frozenset[int]()):
        state, effects = advance(state, on.SlotsChanged(2, these))
        shut = state.lanes.closed
        sent = [effect.index for effect in effects if isinstance(effect, out.SendTicket)]
        assert not [index for index in sent if of[index] in shut]
        offered += sent
        for index in data.draw(st.sets(st.sampled_from(sorted(set(offered)) or [0]), max_size=4)):
            if index in state.window.cells and of[index] not in shut:
                state, effects = advance(state, on.Settled(index, None))
                offered += [effect.index for effect in effects if isinstance(effect, out.SendTicket)]
    for _ in range(len(of)):
        if state.stage is Stage.OVER:
            break
        state, effects = advance(state, on.Settled(min(state.window.cells), None))
        offered += [effect.index for effect in effects if isinstance(effect, out.SendTicket)]
    assert state.stage is Stage.OVER
    assert set(offered) == set(range(len(of)))
    for lane in set(of):
        first = list(dict.fromkeys(index for index in offered if of[index] == lane))
        assert first == sorted(first)


def test_cells_that_no_host_can_run_keep_no_place_from_the_others() -> None:
    of = (0, 1) * 500
    state, effects = advance(_with_lanes(begin(1000, Policies()), of), on.SlotsChanged(4, frozenset({0})))
    done = 0
    while sent := [effect.index for effect in effects if isinstance(effect, out.SendTicket)]:
        assert all(index % 2 for index in sent)
        effects = ()
        for index in sent:
            state, more = advance(state, on.Settled(index, None))
            effects += more
            done += 1
    assert (done, state.stage) == (500, Stage.DISPATCHING)
    assert len(state.window.cells) == 0
    state, effects = advance(state, on.SlotsChanged(4))
    assert [effect.index for effect in effects if isinstance(effect, out.SendTicket)] == [0, 2, 4, 6, 8, 10, 12, 14]


def test_tickets_of_a_lane_that_closes_give_their_places_back_and_are_sent_again() -> None:
    of = (0, 1) * 10
    state, _ = advance(_with_lanes(begin(20, Policies()), of), on.SlotsChanged(2))
    state, effects = advance(state, on.SlotsChanged(2, frozenset({0})))
    assert [effect.index for effect in effects if isinstance(effect, out.SendTicket)] == [5, 7]
    state, _ = advance(state, on.Claimed(0, 1))  # somebody had it before the lane closed
    state, effects = advance(state, on.SlotsChanged(4))
    assert [effect.index for effect in effects if isinstance(effect, out.SendTicket)] == [2, 4, 6]


def _with_lanes(state: State, of: tuple[int, ...]) -> State:
    return replace(state, lanes=Lanes.numbered(of))


@given(of=st.lists(st.integers(-1, 3), max_size=40).map(tuple), closed=closings)
def test_cells_that_need_no_host_are_never_passed_over(of: tuple[int, ...], closed: list[frozenset[int]]) -> None:
    found = Lanes.numbered(of)
    for these in closed:
        found = found.close(these)
        assert not any(found.is_closed(index) for index, lane in enumerate(of) if lane == NO_HOST)
        for index in (index for index, lane in enumerate(of) if lane == NO_HOST):
            assert found.next_open(index) == index
    lanes = frozenset(of) - {NO_HOST}
    assert found.close(lanes).closed == frozenset(), "where nobody else is served either, somebody may come"
