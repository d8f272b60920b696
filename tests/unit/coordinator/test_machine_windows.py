"""Time windows, and a fleet of others, as the coordinator's machine sees them."""

from farm.coordinator import events as on
from farm.coordinator.effects import (
    CloseClaims,
    CloseSweep,
    LeaveOpen,
    SendTicket,
    StartWait,
)
from farm.coordinator.machine import Policies, Stage, begin
from farm.coordinator.share import Quota
from farm.model import (
    BreakerPolicy,
    CloseReason,
    FaultKind,
)
from tests.builders.machine_play import TASK, WINDOW, a_state, fault, play, tickets


def test_a_cell_that_would_outlast_the_time_that_is_left_is_put_off_and_later_ones_go_on() -> None:
    state = a_state(cells=6, slots=1, needs_s=(5.0, 5.0, 60.0, 5.0, 60.0, 5.0))
    state, effects = play(state, on.TimeLeft(30), on.Settled(0, None), on.Settled(1, None))
    assert tickets(effects) == [3, 5]
    state, effects = play(state, on.Settled(3, None), on.Settled(5, None))
    assert effects == [LeaveOpen(WINDOW)]
    assert (state.ledger.put_aside, state.hours.put_off_s) == (2, 60.0)


def test_when_no_time_is_left_running_cells_end_and_nothing_more_is_sent() -> None:
    state = a_state(cells=9, slots=2, needs_s=(5.0,) * 9)
    state, effects = play(state, on.Claimed(0, 1), on.TimeLeft(0), on.Settled(1, None), on.Overdue(2, 1))
    assert effects == []
    assert play(state, on.Overdue(3, 1), on.Settled(0, None))[1] == [LeaveOpen(WINDOW)]


def test_outside_its_windows_a_sweep_stays_open_at_once() -> None:
    state = begin(100, Policies(), needs_s=(5.0,) * 100)
    assert play(state, on.TimeLeft(0), on.SlotsChanged(4))[1] == [LeaveOpen(WINDOW)]


def test_a_sweep_that_is_done_when_its_window_closes_is_complete() -> None:
    state = a_state(cells=2, needs_s=(5.0,) * 2)
    effects = play(state, on.Settled(0, None), on.TimeLeft(0), on.Settled(1, None))[1]
    assert effects == [CloseSweep(CloseReason.COMPLETE)]


def test_a_cell_whose_host_closed_goes_to_another_one_while_one_is_open() -> None:
    state = a_state(needs_s=(5.0,) * 10)
    effects = play(state, on.Claimed(0, 1), on.AttemptEnded(0, 1, fault(FaultKind.DEFERRED)))[1]
    assert effects == [StartWait(0, 2, 1.0), SendTicket(4, 1)]


def test_a_late_cell_that_lets_a_streak_be_folded_stops_what_was_about_to_be_sent() -> None:
    state = a_state(cells=9, slots=2, needs_s=(60.0, *(5.0,) * 8), breaker=BreakerPolicy(streak=3))
    state, _ = play(state, on.TimeLeft(30), on.Settled(1, TASK), on.Settled(2, TASK))
    state, effects = play(state, on.Overdue(0, 1), on.Settled(3, TASK))
    assert effects[-1] == CloseClaims()
    assert state.stage is Stage.CLOSING


def test_while_the_fleet_is_others_nothing_is_sent_and_what_comes_too_late_is_put_off_all_the_same() -> None:
    state, effects = play(begin(3, Policies(), needs_s=(5.0,) * 3), on.QuotaChanged(Quota(slots=0)), on.SlotsChanged(4))
    assert effects == []
    assert play(state, on.QuotaChanged(Quota(slots=1)))[1] == [SendTicket(0, 1), SendTicket(1, 1)]
    assert play(state, on.TimeLeft(0))[1] == [LeaveOpen(WINDOW)]
