"""The machine, example by example; its laws are in the property tests."""

from collections import deque

from farm.coordinator import events as on
from farm.coordinator.budget import Budget
from farm.coordinator.effects import (
    CloseClaims,
    CloseSweep,
    LeaveOpen,
    OrderStop,
    PauseFrom,
    Resume,
    SendTicket,
    SettleOutcome,
    StartHold,
    StartWait,
)
from farm.coordinator.machine import Policies, begin
from farm.coordinator.retry import LOST, share
from farm.coordinator.window import Live, Phase
from farm.model import (
    ActionClass,
    BreakerPolicy,
    Cell,
    CloseReason,
    DispatchPolicy,
    FaultKind,
    RetryPolicy,
    StopReason,
)
from tests.builders.machine_play import TASK, WINDOW, a_state, fault, held_state, holds, out_of_order, play, tickets
from tests.builders.sweeps import a_plan


def test_nothing_is_sent_before_the_fleet_is_known() -> None:
    state = begin(3, Policies())
    assert play(state, on.Claimed(0, 1), on.Settled(0, None))[1] == []


def test_twice_the_live_slots_are_sent_in_plan_order() -> None:
    _, effects = play(begin(10, Policies()), on.SlotsChanged(2))
    assert effects == [SendTicket(index, 1) for index in range(4)]


def test_a_cap_holds_whatever_the_fleet() -> None:
    policies = Policies(dispatch=DispatchPolicy(most_outstanding=3))
    assert tickets(play(begin(10, policies), on.SlotsChanged(100))[1]) == [0, 1, 2]


def test_a_finished_cell_frees_its_place_while_an_earlier_one_runs() -> None:
    assert play(a_state(), on.Settled(3, None))[1] == [SendTicket(4, 1)]


def test_a_smaller_fleet_sends_no_more_until_there_is_room() -> None:
    state, effects = play(a_state(slots=3), on.SlotsChanged(1), *(on.Settled(index, None) for index in range(4)))
    assert effects == []
    assert play(state, on.Settled(4, None))[1] == [SendTicket(6, 1)]


def test_a_fault_that_earns_another_attempt_waits_and_comes_before_later_cells() -> None:
    state, effects = play(a_state(), on.AttemptEnded(1, 1, fault(FaultKind.RATE_LIMIT, 7.0)))
    assert effects == [StartWait(1, 2, 7.0 + share("", 1, 1)), SendTicket(4, 1)]
    state, effects = play(state, on.WaitOver(1, 2))
    assert effects == []
    assert play(state, on.Settled(0, None))[1] == [SendTicket(1, 2)]


def test_waiting_cells_do_not_pile_up_without_bound() -> None:
    state = a_state(cells=1000)
    sent = deque(range(4))
    for _ in range(100):
        if not sent:
            break
        state, effects = play(state, on.AttemptEnded(sent.popleft(), 1, fault(FaultKind.PROVIDER)))
        sent.extend(tickets(effects))
    assert not sent
    assert state.window.waiting == len(state.window.cells) == 7


def test_used_up_attempts_become_a_result() -> None:
    retry = RetryPolicy(most_attempts=1)
    assert play(a_state(retry=retry), on.AttemptEnded(0, 1, fault(FaultKind.HOST)))[1] == [SettleOutcome(0, 1)]
    assert play(a_state(retry=retry), on.AttemptEnded(0, 1, LOST))[1] == [SettleOutcome(0, 1)]


def test_no_fault_earns_a_cell_another_attempt_whose_task_reaches_beyond_its_workspace() -> None:
    plan = a_plan()
    beyond = plan.tasks[0].model_copy(update={"id": "beyond", "action": ActionClass.EXTERNAL})
    cells = (*plan.cells, Cell(task="beyond", arm="old", trial=1))
    policies = Policies.of(plan.model_copy(update={"tasks": (*plan.tasks, beyond), "cells": cells}), Budget())
    state, _ = play(begin(len(cells), policies), on.SlotsChanged(len(cells)))
    last = len(cells) - 1

    assert play(state, on.AttemptEnded(last, 1, LOST))[1] == [SettleOutcome(last, 1)]
    assert play(state, on.AttemptEnded(last, 1, fault(FaultKind.RATE_LIMIT)))[1] == [SettleOutcome(last, 1)]
    assert isinstance(play(state, on.AttemptEnded(0, 1, LOST))[1][0], StartWait)


def test_evidence_without_a_result_gets_its_result() -> None:
    state, effects = play(a_state(), on.Claimed(0, 1), on.AttemptEnded(0, 1, None), on.AttemptEnded(0, 1, None))
    assert effects == [SettleOutcome(0, 1)]
    assert play(state, on.Settled(0, None))[1] == [SendTicket(4, 1)]


def test_a_lost_attempt_is_followed_by_the_next_number() -> None:
    state, effects = play(a_state(), on.Claimed(0, 1), on.AttemptEnded(0, 1, LOST))
    assert StartWait(0, 2, share("", 0, 1)) in effects
    assert play(state, on.AttemptEnded(0, 1, LOST), on.AttemptEnded(0, 1, None), on.Claimed(0, 1))[1] == []


def test_a_result_of_an_older_attempt_counts() -> None:
    state, _ = play(a_state(cells=1), on.Claimed(0, 1), on.AttemptEnded(0, 1, LOST), on.WaitOver(0, 2))
    assert play(state, on.Settled(0, None))[1] == [CloseSweep(CloseReason.COMPLETE)]


def test_an_overdue_ticket_is_sent_again_and_a_running_one_too_when_nobody_had_claimed_it() -> None:
    assert play(a_state(), on.Overdue(2, 1))[1] == [SendTicket(2, 1)]
    assert play(a_state(), on.Claimed(2, 1), on.Overdue(2, 1))[1] == [SendTicket(2, 1)]


def test_the_last_results_pause_and_the_fold_resumes() -> None:
    state = a_state(cells=30, slots=5, breaker=BreakerPolicy(streak=3))
    state, effects = play(state, *(on.Settled(index, TASK) for index in (2, 3, 4)))
    assert effects == [SendTicket(10, 1), SendTicket(11, 1), PauseFrom(5)]
    state, effects = play(state, on.Settled(5, None))
    assert effects == []
    assert state.paused_from == 5
    state, effects = play(state, on.AttemptEnded(0, 1, fault(FaultKind.HOST)), on.WaitOver(0, 2))
    assert tickets(effects) == [0]
    state, effects = play(state, on.Settled(0, None), on.Settled(1, TASK))
    assert effects == [CloseClaims()]


def test_a_result_without_a_fault_that_no_answer_can_be_read_from_is_unusable() -> None:
    state = a_state(cells=30, slots=3, breaker=BreakerPolicy(streak=2))
    state, effects = play(state, on.Settled(0, None, is_sound=False), on.Settled(1, TASK))
    assert effects[-1] == CloseClaims()


def test_a_usable_result_inside_the_streak_ends_the_pause_and_refused_tickets_are_sent_again() -> None:
    state = a_state(cells=30, slots=3, breaker=BreakerPolicy(streak=2))
    state, effects = play(state, on.Settled(1, TASK), on.Settled(3, TASK))
    assert effects == [SendTicket(6, 1), PauseFrom(4)]
    _, effects = play(state, on.Settled(2, None))
    assert effects == [Resume(), *(SendTicket(index, 1) for index in (4, 5, 6, 7, 8))]


def test_a_deferred_cell_inside_the_streak_refutes_nothing() -> None:
    state = a_state(cells=30, slots=3, needs_s=(5.0,) * 30, breaker=BreakerPolicy(streak=2))
    state, _ = play(state, on.Settled(1, TASK), on.Settled(3, TASK))
    ending = (on.TimeLeft(0), on.AttemptEnded(2, 1, fault(FaultKind.DEFERRED)))
    state, effects = play(state, *ending)
    assert (effects, state.paused_from) == ([], 4)


def test_the_trip_closes_claims_and_waits_for_what_runs() -> None:
    state = a_state(cells=30, slots=3, breaker=BreakerPolicy(streak=2))
    state, effects = play(state, on.Claimed(4, 1), on.Settled(0, TASK), on.Settled(1, TASK))
    assert effects[-1] == CloseClaims()
    state, effects = play(state, on.ClaimsClosed(frozenset({3, 4})), on.AttemptEnded(4, 1, fault(FaultKind.HOST)))
    assert effects == []
    assert play(state, on.Settled(3, None))[1] == [CloseSweep(CloseReason.BREAKER)]


def test_a_cell_that_the_pause_held_back_and_somebody_runs_all_the_same_is_waited_for() -> None:
    state = a_state(cells=5, slots=3, breaker=BreakerPolicy(streak=1))
    state, effects = play(state, on.Settled(1, TASK))
    assert PauseFrom(2) in effects
    state, _ = play(state, on.Settled(0, TASK), on.ClaimsClosed(frozenset({2, 3})))
    state, effects = play(state, on.Overdue(2, 1))
    assert effects == []
    assert play(state, on.AttemptEnded(3, 1, LOST))[1] == [CloseSweep(CloseReason.BREAKER)]


def test_a_cancel_while_the_trip_drains_ends_at_once_and_keeps_the_reason() -> None:
    state = a_state(breaker=BreakerPolicy(streak=1))
    state, _ = play(state, on.Claimed(1, 1), on.Settled(0, TASK), on.ClaimsClosed(frozenset({1})))
    assert play(state, on.CancelAsked())[1] == [OrderStop(StopReason.CANCEL), CloseSweep(CloseReason.BREAKER)]


def test_a_bug_ends_the_sweep() -> None:
    effects = play(a_state(), on.Settled(0, FaultKind.BUG))[1]
    assert effects == [OrderStop(StopReason.CANCEL), CloseSweep(CloseReason.BUG)]


def test_deferred_cells_are_no_results_and_leave_the_sweep_open() -> None:
    state = a_state(cells=3, breaker=BreakerPolicy(streak=2), needs_s=(5.0,) * 3)
    events = (on.Settled(0, TASK), on.TimeLeft(1), on.AttemptEnded(1, 1, fault(FaultKind.DEFERRED)))
    state, effects = play(state, *events)
    assert effects == []
    assert play(state, on.Settled(2, TASK))[1] == [CloseClaims()]
    assert play(state, on.Settled(2, None))[1] == [LeaveOpen(WINDOW)]


def test_a_shut_down_worker_s_cell_is_sent_again_after_a_moment() -> None:
    effects = play(a_state(), on.Claimed(0, 1), on.AttemptEnded(0, 1, fault(FaultKind.CANCELLED)))[1]
    assert effects == [StartWait(0, 2, 1.0), SendTicket(4, 1)]


def test_attempts_that_were_interrupted_do_not_count() -> None:
    policy = RetryPolicy(most_attempts=2)
    state, _ = play(
        a_state(cells=1, retry=policy), on.AttemptEnded(0, 1, fault(FaultKind.CANCELLED)), on.WaitOver(0, 2)
    )
    state, effects = play(state, on.AttemptEnded(0, 2, fault(FaultKind.HOST), interrupted=1))
    assert effects == [StartWait(0, 3, share("", 0, 2))]
    state, _ = play(state, on.WaitOver(0, 3))
    assert play(state, on.AttemptEnded(0, 3, fault(FaultKind.HOST), interrupted=1))[1] == [SettleOutcome(0, 3)]


def test_replay_sends_only_what_lacks_a_result() -> None:
    state, effects = play(
        begin(6, Policies()),
        *(on.Settled(index, None) for index in (0, 1, 4)),
        on.Replayed(2, 1, is_over=False),
        on.Replayed(3, 2, is_over=True),
        on.SlotsChanged(4),
    )
    assert effects == [SendTicket(3, 3), SendTicket(5, 1)]
    assert state.ledger.fold == 2


def test_many_cells_behind_a_straggler_stay_cheap() -> None:
    cells = 8_000
    state, effects = play(begin(cells, Policies()), on.SlotsChanged(4))
    sent = deque(tickets(effects))
    while sent:
        index = sent.popleft()
        if index != 0:
            state, effects = play(state, on.Settled(index, None))
            sent.extend(tickets(effects))
    assert (state.ledger.fold, state.ledger.through.bit_count(), len(state.window.cells)) == (0, cells - 1, 1)
    assert play(state, on.Settled(0, None))[1] == [CloseSweep(CloseReason.COMPLETE)]


def test_after_a_provider_s_fault_its_other_cells_wait_and_those_of_others_go_on() -> None:
    state = held_state("aaaaaabb.", slots=2)
    state, effects = play(state, out_of_order(0, 1))
    assert holds(effects) == [StartHold("a", 1, 1.0)]
    assert tickets(effects) == [6]
    state, effects = play(state, on.HoldOver("a", 1), on.Settled(1, None))
    assert tickets(effects) == [4]


def test_a_hold_grows_with_each_failure_after_it_up_to_a_minute() -> None:
    state = held_state("a", slots=1, retry=RetryPolicy(outage_attempts=99))
    delays = list[float]()
    for number in range(1, 10):
        state, effects = play(state, out_of_order(0, number), on.WaitOver(0, number + 1), on.HoldOver("a", number))
        delays += [hold.delay_s for hold in holds(effects)]
        assert tickets(effects) == [0]
    assert delays == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_what_was_under_way_when_a_hold_began_does_not_make_it_longer_but_for_what_the_provider_asks() -> None:
    state = held_state("a" * 10, slots=2)
    state, effects = play(state, out_of_order(0, 1), out_of_order(1, 1), on.Pressed(2, 1, 30.0), on.Pressed(2, 1, 30.0))
    assert holds(effects) == [StartHold("a", 1, 1.0), StartHold("a", 2, 30.0)]
    assert tickets(play(state, on.HoldOver("a", 1))[1]) == []
    assert tickets(play(state, on.HoldOver("a", 2))[1]) != []


def test_after_a_second_failure_one_cell_at_a_time_finds_out_whether_the_provider_is_back() -> None:
    state = held_state("a" * 12, slots=2)
    state, _ = play(state, out_of_order(0, 1), on.HoldOver("a", 1))
    assert state.window.outstanding == 4
    state, _ = play(state, out_of_order(1, 1), on.HoldOver("a", 2), *(on.Settled(index, TASK) for index in (2, 3)))
    assert list(state.window.cells.values()).count(Live(1, Phase.QUEUED)) == 1
    state, effects = play(state, on.Settled(4, TASK))
    assert tickets(effects) == [5]
    assert tickets(play(state, on.Settled(5, None))[1]) == [6, 7, 8, 9]


def test_a_success_ends_a_hold_at_once_and_the_next_one_is_short_again() -> None:
    state = held_state("a" * 12, slots=2)
    state, effects = play(state, out_of_order(0, 1), on.Settled(1, None))
    assert len(tickets(effects)) == 2
    state, effects = play(state, out_of_order(2, 1))
    assert holds(effects) == [StartHold("a", 2, 1.0)]


def test_pressure_on_a_running_cell_holds_its_provider_s_other_cells() -> None:
    state = held_state("aaaaaa", slots=1)
    state, effects = play(state, on.Claimed(0, 1), on.Pressed(0, 1, None), on.Pressed(5, 1, None))
    assert holds(effects) == [StartHold("a", 1, 1.0)]


def test_an_outage_is_tried_again_more_patiently_than_a_host() -> None:
    policy = RetryPolicy()
    outage, host, limit = (fault(kind) for kind in (FaultKind.PROVIDER, FaultKind.HOST, FaultKind.RATE_LIMIT))
    assert [policy.delay_s(outage, attempt) for attempt in (1, 2, 3, 4)] == [5.0, 10.0, 20.0, 40.0]
    assert [policy.earns_another(outage, attempt) for attempt in (4, 5)] == [True, False]
    assert [policy.earns_another(one, 3) for one in (host, limit)] == [False, False]
    assert [policy.delay_s(limit, attempt) for attempt in (1, 2)] == [1.0, 2.0]


def test_waits_are_spread_from_nothing_to_the_nominal_one_and_are_the_same_in_a_replay() -> None:
    waits = [share("a", index, attempt) for index in range(200) for attempt in (1, 2)]
    assert waits == [share("a", index, attempt) for index in range(200) for attempt in (1, 2)]
    assert len(set(waits)) == 400
    assert 0 <= min(waits) < 0.05
    assert 0.95 < max(waits) < 1
    policy = RetryPolicy()
    host, outage = fault(FaultKind.HOST), fault(FaultKind.PROVIDER)
    assert [policy.wait_s(host, 2, spread) for spread in (0.0, 0.5, 1.0)] == [0.0, 1.0, 2.0]
    assert [policy.wait_s(outage, 2, spread) for spread in (0.0, 0.5, 1.0)] == [0.0, 5.0, 10.0]


def test_what_a_provider_asks_for_is_waited_whole_before_the_jitter() -> None:
    policy = RetryPolicy()
    asked, silent = fault(FaultKind.RATE_LIMIT, 30.0), fault(FaultKind.RATE_LIMIT)
    assert [policy.wait_s(asked, 2, spread) for spread in (0.0, 0.5)] == [30.0, 31.0]
    assert [policy.wait_s(silent, 2, spread) for spread in (0.0, 0.5)] == [2.0, 3.0]
    assert policy.wait_s(fault(FaultKind.PROVIDER, 30.0), 1, 1.0) == 35.0
