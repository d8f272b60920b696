"""The coordinator's loop over ports in memory: what must survive when parts die."""

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import pytest

from farm.coordinator.loop import Coordinator, EndKind
from farm.errors import ConflictError, SpecError
from farm.model import (
    NO_TOKENS,
    BreakerPolicy,
    CloseReason,
    DoorReport,
    EventKind,
    Fault,
    FaultKind,
    ModelUse,
    Refusal,
    RetryPolicy,
    StopReason,
    SweepId,
    Ticket,
    parse_record,
)
from farm.model.evidence import Evidence, Outcome
from farm.model.keys import cancel_key, close_key, outcome_key, result_key
from farm.model.result import Close, Result
from tests.builders.sweeps import Farm, Finding, Worker, a_plan, evidence, fault, indices, quick_retry


def right(_ticket: Ticket) -> Finding:
    return evidence()


def test_a_sweep_runs_to_its_close_with_one_result_a_cell() -> None:
    farm = Farm(a_plan(trials=20))
    end = farm.run(farm.works(right))
    assert (end.kind, end.close and end.close.reason) == (EndKind.CLOSED, CloseReason.COMPLETE)
    assert len(farm.results()) == 40
    assert all(farm.attempts(index) == [1] for index in range(40))


def test_progress_counts_cells_by_arm() -> None:
    farm = Farm(a_plan(trials=3))

    def find(ticket: Ticket) -> Finding:
        if ticket.index == 5:
            return fault(FaultKind.TASK)
        return evidence(correct=ticket.index != 0, cost=None if ticket.index == 2 else "0.5")

    farm.run(farm.works(find))
    last = farm.seen[-1]
    assert (last.planned, last.done, last.running, last.failed) == (6, 6, 0, 1)
    old, new = last.arms
    assert (old.done, old.correct, old.failed, str(old.cost_usd), old.cost_unknown) == (3, 2, 0, "1.0", 1)
    assert (new.done, new.correct, new.failed, str(new.cost_usd), new.cost_unknown) == (3, 2, 1, "1.0", 1)


def test_progress_counts_what_every_attempt_cost() -> None:
    farm = Farm(a_plan(trials=1, retry=quick_retry()))
    use = ModelUse(model="m", requests=1, tokens=NO_TOKENS, cost_usd=Decimal("0.5"))
    doors = (DoorReport(provider="acme", origin="https://acme.example", models=(use,), is_priced=True),)

    def find(ticket: Ticket) -> Finding:
        return fault(FaultKind.RATE_LIMIT) if ticket.attempt == 1 else evidence(cost="0.25")

    farm.run(farm.works(find, doors))
    assert [(str(arm.cost_usd), arm.cost_unknown) for arm in farm.seen[-1].arms] == [("0.75", 0)] * 2


def test_a_sweep_outlives_an_outage_of_its_provider_of_five_minutes() -> None:
    plan = a_plan(trials=10, retry=RetryPolicy(), breaker=BreakerPolicy())
    arms = tuple(arm.model_copy(update={"provider": "acme"}) for arm in plan.arms)
    farm = Farm(plan.model_copy(update={"arms": arms}))
    began_s = farm.clock.monotonic()

    def find(_ticket: Ticket) -> Finding:
        return fault(FaultKind.PROVIDER) if farm.clock.monotonic() - began_s < 300 else evidence()

    end = farm.run(farm.works(find))
    assert end.close is not None
    assert end.close.reason is CloseReason.COMPLETE
    assert farm.seen[-1].failed <= 2, "one cell at a time spends its attempts"
    assert any("provider acme does not answer" in (progress.waiting or "") for progress in farm.seen)


def test_no_more_is_outstanding_than_twice_the_slots() -> None:
    farm = Farm(a_plan(trials=50), slots=3)
    assert farm.run(lambda turn: turn > 5).kind is EndKind.INTERRUPTED
    assert indices(farm.dispatcher.sent) == [0, 1, 2, 3, 4, 5]


def test_a_straggler_does_not_hold_the_rest() -> None:
    farm = Farm(a_plan(trials=10), slots=1)
    worker = Worker(farm)

    def step(_turn: int) -> None:
        for ticket in farm.dispatcher.take():
            if worker.claim(ticket) and ticket.index != 0:
                worker.finish(ticket.index, evidence())
        worker.renew()
        if len(farm.results()) == 19 and 0 in worker.held:
            worker.finish(0, evidence())

    farm.run(step)
    assert farm.attempts(0) == [1]


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_dead_worker_costs_an_attempt_and_the_last_one_becomes_lost(attempts: int) -> None:
    farm = Farm(a_plan(trials=2, retry=quick_retry(most_attempts=attempts)))
    farm.run(farm.works(lambda ticket: None if ticket.index == 1 else evidence()))
    cell = farm.plan.cells[1].id
    assert farm.attempts(1) == list(range(1, attempts + 1))
    body = farm.records.read(result_key(farm.sweep, cell))
    assert body is not None
    result = parse_record(Result, body, cell)
    assert (result.attempt, result.fault) == (attempts, FaultKind.LOST)


def test_a_dead_worker_s_cell_is_run_again_elsewhere() -> None:
    farm = Farm(a_plan(trials=2, retry=quick_retry()))
    end = farm.run(farm.works(lambda ticket: None if ticket.attempt == 1 and ticket.index == 2 else evidence()))
    assert end.close is not None
    assert farm.attempts(2) == [1, 2]
    assert any("lost" in note for note in farm.seen[-1].notes)
    key = outcome_key(farm.sweep, farm.plan.cells[2].id, 1)
    kept = parse_record(Outcome, farm.records.read(key) or b"", key)
    assert kept.fault is not None
    assert (kept.fault.kind, kept.host) == (FaultKind.LOST, "host/1")


def test_a_worker_that_comes_back_after_its_cell_was_given_on_has_no_right_any_more() -> None:
    farm = Farm(a_plan(trials=1, retry=quick_retry()))
    worker = Worker(farm)
    held = list[bool]()

    def step(_turn: int) -> bool:
        for ticket in farm.dispatcher.take():
            if ticket.attempt == 1:
                worker.claim(ticket)
            else:
                held.append(farm.leases.renew(worker.held[ticket.index], 30.0).is_held)
        return bool(held)

    farm.run(step)
    assert held[0] is False


def test_a_usable_outcome_without_its_result_is_completed_and_not_run_again() -> None:
    farm = Farm(a_plan(trials=2))
    worker = Worker(farm)

    def step(_turn: int) -> None:
        for ticket in farm.dispatcher.take():
            worker.claim(ticket)
            worker.finish(ticket.index, evidence(), with_result=ticket.index != 3, with_hint=ticket.index != 3)

    farm.run(step)
    assert farm.attempts(3) == [1]
    assert len(farm.results()) == 4


def test_lost_hints_are_found_out_from_the_leases() -> None:
    farm = Farm(a_plan(trials=3), slots=1)
    worker = Worker(farm)

    def step(_turn: int) -> None:
        for ticket in farm.dispatcher.take():
            worker.claim(ticket)
            worker.finish(ticket.index, evidence(), with_hint=False)
        farm.events.receive(farm.sweep, 0.0)

    farm.run(step)
    assert [farm.attempts(index) for index in range(6)] == [[1]] * 6


def test_doubled_and_foreign_hints_change_nothing() -> None:
    farm = Farm(a_plan(trials=3))
    world = farm.works(right)

    def step(turn: int) -> None:
        world(turn)
        for index in (0, 0, 5, 99, -1):
            farm.hint(EventKind.FINISHED, index, 1)
            farm.hint(EventKind.CLAIMED, index, 7)

    farm.run(step)
    assert [farm.attempts(index) for index in range(6)] == [[1]] * 6


def test_a_claim_that_was_only_hinted_at_costs_no_attempt() -> None:
    farm = Farm(a_plan(trials=1))
    world = farm.works(right)

    def step(turn: int) -> None:
        if turn < 60:
            farm.dispatcher.take()
            farm.hint(EventKind.CLAIMED, 0, 1)
        else:
            world(turn)

    farm.run(step)
    assert farm.attempts(0) == [1]


def test_a_faulty_attempt_is_retried_after_its_wait_and_holds_no_slot_meanwhile() -> None:
    farm = Farm(a_plan(trials=4, retry=RetryPolicy()), slots=1)
    sent = dict[tuple[int, int], float]()

    def find(ticket: Ticket) -> Finding:
        sent[ticket.index, ticket.attempt] = farm.clock.monotonic()
        return (
            fault(FaultKind.RATE_LIMIT, retry_after_s=9.0) if (ticket.index, ticket.attempt) == (0, 1) else evidence()
        )

    farm.run(farm.works(find))
    assert sent[0, 2] - sent[0, 1] >= 9.0
    assert sent[7, 1] < sent[0, 2]


def test_the_breaker_closes_the_sweep() -> None:
    farm = Farm(a_plan(trials=30, breaker=BreakerPolicy(streak=5)), slots=2)
    end = farm.run(farm.works(lambda ticket: evidence() if ticket.index < 10 else fault(FaultKind.TASK)))
    assert end.close is not None
    assert end.close.reason is CloseReason.BREAKER
    assert farm.plan.cells[14].id in end.close.detail
    assert len(farm.results()) <= 15 + 4


def ended_with(reason: str) -> Evidence:
    found = evidence()
    return found.model_copy(update={"sessions": (found.sessions[0].model_copy(update={"reason": reason}),)})


@pytest.mark.parametrize(
    ("reason", "close"),
    [
        ("stream_invalid", CloseReason.BREAKER),
        ("skill-not-invoked", CloseReason.BREAKER),
        ("wall_limit", CloseReason.COMPLETE),
        ("error_max_turns", CloseReason.COMPLETE),
    ],
)
def test_evidence_that_no_answer_can_be_read_from_trips_as_faults_do(reason: str, close: CloseReason) -> None:
    farm = Farm(a_plan(trials=15, breaker=BreakerPolicy(streak=5)), slots=2)
    end = farm.run(farm.works(lambda ticket: fault(FaultKind.TASK) if ticket.index % 7 == 0 else ended_with(reason)))
    assert end.close is not None
    assert end.close.reason is close


def test_45_46_invalid_reviews_in_a_row_trip_and_a_review_that_scores_nothing_resets() -> None:
    invalid = Fault(kind=FaultKind.EVIDENCE, detail="review-evidence-invalid: session 'review' left no review")
    scored_nothing = evidence(correct=False)

    def ended(index_of_score: int) -> CloseReason | None:
        farm = Farm(a_plan(trials=5, breaker=BreakerPolicy(streak=5)), slots=1)
        found = {index_of_score: scored_nothing, 9: scored_nothing}
        end = farm.run(farm.works(lambda ticket: found.get(ticket.index, invalid)))
        return None if end.close is None else end.close.reason

    assert ended(4) is CloseReason.COMPLETE  # four, a score of nothing, four
    assert ended(5) is CloseReason.BREAKER


@dataclass
class Contested:
    """A lease book of which a claim of a paused cell is asked after every call."""

    farm: Farm
    ticket: Ticket | None = None
    answers: list[object] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: object) -> Any:
            answer = getattr(self.farm.leases, name)(*arguments)
            if self.ticket is not None:
                self.answers.append(self.farm.leases.claim(self.ticket, "other/1/1", 30.0))
            return answer

        return call


def test_a_pause_holds_at_every_moment_while_the_lease_book_is_told_again() -> None:
    farm = Farm(a_plan(trials=30, breaker=BreakerPolicy(streak=2)), slots=2)
    worker, leases = Worker(farm), Contested(farm)
    tickets = list[Ticket]()

    def step(_turn: int) -> bool:
        for ticket in farm.dispatcher.take():
            tickets.append(ticket)
            if worker.claim(ticket) and ticket.index in {1, 2}:
                worker.finish(ticket.index, fault(FaultKind.TASK))
        worker.renew()
        if farm.seen and farm.seen[-1].is_paused:
            leases.ticket = tickets[0].model_copy(update={"index": 9, "cell": farm.plan.cells[9].id})
        return farm.clock.monotonic() > 20

    coordinator = Coordinator(farm.sweep, "first", replace(farm.ports, leases=leases))  # type: ignore[arg-type]  # a proxy
    farm.run(step, coordinator)
    assert set(leases.answers) == {Refusal.PAUSED}


def test_a_bug_closes_the_sweep() -> None:
    farm = Farm(a_plan(trials=30))
    end = farm.run(farm.works(lambda ticket: fault(FaultKind.BUG) if ticket.index == 3 else evidence()))
    assert end.close is not None
    assert (end.close.reason, "a bug fault" in end.close.detail) == (CloseReason.BUG, True)
    assert len(farm.results()) < 20


def test_a_cancel_stops_what_runs_and_sends_nothing_more() -> None:
    farm = Farm(a_plan(trials=30))
    end = farm.run(lambda turn: farm.cancel() if turn == 3 else None)
    assert end.close is not None
    assert end.close.reason is CloseReason.CANCELLED
    assert farm.signals.stop_reason(farm.sweep) is StopReason.CANCEL
    assert len(farm.dispatcher.sent) == 8


def test_the_deadline_counts_from_the_opening_not_from_the_coordinator_s_start() -> None:
    farm = Farm(a_plan(trials=30, deadline_s=100.0))
    farm.clock.advance(99.0)
    end = farm.run(lambda _turn: None)
    assert end.close is not None
    assert end.close.reason is CloseReason.DEADLINE
    assert farm.clock.monotonic() < 103
    assert farm.signals.stop_reason(farm.sweep) is StopReason.DEADLINE


def test_a_resumed_sweep_runs_only_what_has_no_result_also_after_a_wipe() -> None:
    farm = Farm(a_plan(trials=20))
    world = farm.works(right)
    farm.run(lambda turn: True if len(farm.results()) >= 15 else world(turn))
    farm.wipe()
    farm.clock.advance(60)
    end = farm.run(farm.works(right), farm.coordinator("second"))
    assert end.close is not None
    assert [farm.attempts(index) for index in range(40)] == [[1]] * 40
    assert farm.seen[-1].done == 40


def test_a_cell_that_runs_through_a_crash_of_the_coordinator_is_not_run_twice() -> None:
    farm = Farm(a_plan(trials=2))
    worker = Worker(farm)

    def claim_all(_turn: int) -> bool:
        for ticket in farm.dispatcher.take():
            worker.claim(ticket)
        return len(worker.held) == 4

    farm.run(claim_all)
    since = farm.clock.monotonic()

    def finish_later(_turn: int) -> None:
        worker.renew()
        for index in list(worker.held) if farm.clock.monotonic() > since + 40 else []:
            worker.finish(index, evidence())

    end = farm.run(finish_later, farm.coordinator("second"))
    assert end.close is not None
    assert [farm.attempts(index) for index in range(4)] == [[1]] * 4


def test_a_wipe_in_the_middle_heals_by_itself() -> None:
    farm = Farm(a_plan(trials=4), slots=2)
    worker = Worker(farm)
    wiped = list[float]()

    def step(_turn: int) -> None:
        for ticket in farm.dispatcher.take():
            worker.claim(ticket)
        if len(worker.held) == 4 and not wiped:
            wiped.append(farm.clock.monotonic())
            farm.leases.forget(farm.sweep)
            farm.dispatcher.take()
            farm.events.receive(farm.sweep, 0.0)
        now = farm.clock.monotonic()
        if wiped and now > wiped[0] + 4:
            assert all(farm.leases.renew(lease, 30.0).is_held for lease in worker.held.values())
        for index in list(worker.held) if wiped and now > wiped[0] + 20 else []:
            worker.finish(index, evidence())

    end = farm.run(step)
    assert end.close is not None
    assert [farm.attempts(index) for index in range(8)] == [[1]] * 8


def test_only_one_coordinator_leads() -> None:
    farm = Farm(a_plan())
    farm.leadership.lead(farm.sweep, "other", 10**6)
    with pytest.raises(ConflictError, match="another coordinator"):
        farm.run(lambda _turn: None)


def test_an_interrupted_coordinator_resigns() -> None:
    farm = Farm(a_plan())
    farm.run(lambda turn: turn > 2)
    assert farm.leadership.lead(farm.sweep, "other", 1.0)


def test_a_closed_sweep_is_not_coordinated_again() -> None:
    farm = Farm(a_plan(trials=1))
    farm.run(farm.works(right))
    farm.dispatcher.take()
    end = farm.run(farm.works(right))
    assert end.close is not None
    assert (end.kind, end.close.reason, farm.dispatcher.sent) == (EndKind.CLOSED, CloseReason.COMPLETE, ())


def test_a_sweep_that_somebody_closes_meanwhile_ends() -> None:
    farm = Farm(a_plan(trials=9))
    close = Close(sweep=farm.sweep, reason=CloseReason.UNFINISHED, closed_at=farm.clock.now())

    def step(turn: int) -> None:
        if turn == 2:
            farm.records.create(close_key(farm.sweep), close.model_dump_json().encode())

    assert farm.run(step).close == close


def test_an_unknown_sweep_is_the_person_s_to_change() -> None:
    farm = Farm(a_plan())
    farm.sweep = SweepId("nobody-000000000000.1")
    with pytest.raises(SpecError, match=r"plan\.json"):
        farm.run(lambda _turn: None)


def test_a_cancel_that_stands_at_the_start_keeps_the_stop_order() -> None:
    farm = Farm(a_plan())
    farm.cancel()
    farm.signals.order_stop(farm.sweep, StopReason.CANCEL)
    assert farm.run(lambda _turn: None).kind is EndKind.CLOSED
    assert farm.signals.stop_reason(farm.sweep) is StopReason.CANCEL
    assert farm.records.read(cancel_key(farm.sweep)) is not None


def test_a_stop_order_of_an_earlier_run_is_withdrawn() -> None:
    farm = Farm(a_plan())
    farm.signals.order_stop(farm.sweep, StopReason.CANCEL)
    farm.run(farm.works(right))
    assert farm.signals.stop_reason(farm.sweep) is None


def test_the_lost_outcome_says_who_was_lost() -> None:
    farm = Farm(a_plan(trials=1, retry=quick_retry(most_attempts=1)))
    farm.run(farm.works(lambda ticket: None if ticket.index == 0 else evidence()))
    body = farm.records.read(outcome_key(farm.sweep, farm.plan.cells[0].id, 1))
    assert body is not None
    assert parse_record(Outcome, body, "outcome").host == "host/1"
