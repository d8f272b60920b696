"""The machine's laws over random histories: a world of workers that finish, fail, vanish, and repeat themselves."""

import random
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from farm.coordinator import effects as out
from farm.coordinator import events as on
from farm.coordinator.events import Event
from farm.coordinator.machine import Policies, Stage, State, advance, begin
from farm.coordinator.retry import LOST
from farm.coordinator.window import Phase
from farm.model import BreakerPolicy, CloseReason, DispatchPolicy, Fault, FaultKind, RetryPolicy

MOST = 3
BUSY = [HealthCheck.too_slow]  # a busy machine is no defect
FAULTS = (FaultKind.HOST, FaultKind.TASK, FaultKind.RATE_LIMIT, FaultKind.EVIDENCE)


def breaker_decides(ends: list[bool], streak: int) -> int | None:
    """Fold naively: the index at which the run of unusable results trips."""
    run = 0
    for index, is_usable in enumerate(ends):
        run = 0 if is_usable else run + 1
        if streak and run >= streak:
            return index
    return None


@dataclass
class World:
    """Workers and a store, driven by dice; checks the laws at each step."""

    dice: random.Random
    state: State
    ends: list[bool]
    """How each cell ends once it does: the outcome is the cell's, not the schedule's."""
    flaky: set[int] = field(default_factory=set)
    """Cells whose first attempt fails by a fault that earns another."""
    offered: dict[int, int] = field(default_factory=dict)
    running: dict[int, int] = field(default_factory=dict)
    claims: set[tuple[int, int]] = field(default_factory=set)
    lost: set[tuple[int, int]] = field(default_factory=set)
    results: dict[int, FaultKind | None] = field(default_factory=dict)
    waits: list[on.WaitOver] = field(default_factory=list)
    holds: list[on.HoldOver] = field(default_factory=list)
    pressing: set[int] = field(default_factory=set)
    """Of the flaky cells, those whose first fault is their provider's."""
    past: list[Event] = field(default_factory=list)
    attempts: dict[int, int] = field(default_factory=dict)
    first_sent: list[int] = field(default_factory=list)
    closed: CloseReason | None = None
    outstanding_at_trip: int = 0
    results_at_trip: int = 0

    def tell(self, event: Event) -> None:
        before = self.state
        self.state, effects = advance(before, event)
        self.past.append(event)
        if before.stage is Stage.DISPATCHING and self.state.stage is not Stage.DISPATCHING:
            self.outstanding_at_trip = len(self.state.window.cells)
            self.results_at_trip = len(self.results)
        # tickets first: what another effect makes of the state comes after what was wanted before it
        for effect in sorted(effects, key=lambda effect: not isinstance(effect, out.SendTicket)):
            self.perform(effect)
        self.check()

    def perform(self, effect: out.Effect) -> None:
        match effect:
            case out.SendTicket(index, attempt):
                self.sent(index, attempt)
            case out.StartWait(index, attempt, delay_s):
                assert delay_s > 0
                self.waits.append(on.WaitOver(index, attempt))
            case out.StartHold(provider, number, delay_s):
                assert 0 < delay_s <= 60
                self.holds.append(on.HoldOver(provider, number))
            case out.SettleOutcome(index, attempt):
                kind = FaultKind.LOST if (index, attempt) in self.lost else self.fault(index)
                self.results.setdefault(index, kind)
                self.tell(on.Settled(index, self.results[index]))
            case out.TakeOver(index):
                assert index in self.state.reused
                assert self.state.paused_from is None or index < self.state.paused_from
                self.results.setdefault(index, None)
                self.tell(on.Settled(index, None))
            case out.CloseClaims():
                self.offered.clear()
                self.tell(on.ClaimsClosed(frozenset(self.running)))
            case out.CloseSweep(reason):
                assert self.closed is None
                self.closed = reason
            case _:
                pass

    def sent(self, index: int, attempt: int) -> None:
        assert self.state.stage is Stage.DISPATCHING, "nothing is sent once it stops"
        assert index not in self.state.reused, "what is taken over is not run"
        assert index not in self.results, "no attempt after a result"
        assert attempt <= MOST, "no more attempts than the policy allows"
        assert attempt >= self.attempts.get(index, 1), "attempt numbers only grow"
        assert self.state.slots is not None
        assert self.state.window.outstanding <= self.state.policies.dispatch.room(self.state.slots), "room"
        ahead = self.state.policies.dispatch.ahead
        assert ahead is None or index < self.state.ledger.fold + ahead, "strict: no further ahead of the fold"
        paused = self.state.paused_from
        assert paused is None or index < paused, "while paused only cells below the pause are sent"
        if index in self.running:
            assert attempt == self.running[index], "two attempts of one cell"
        holds = self.state.holds
        assert holds.provider(index) not in holds.on, "nothing is sent to a provider on hold"
        if index not in self.attempts:
            passed = [other for other in self.first_sent if other > index]
            same = [other for other in passed if holds.provider(other) == holds.provider(index)]
            assert not (same if holds.providers else passed), "plan order, of each provider"
            self.first_sent.append(index)
        self.attempts[index] = attempt
        self.offered[index] = attempt

    def check(self) -> None:
        state = self.state
        phases = [live.phase for live in state.window.cells.values()]
        assert state.window.waiting == phases.count(Phase.WAITING)
        assert len(state.window.ready) == phases.count(Phase.READY)

    def fault(self, index: int) -> FaultKind | None:
        return None if self.ends[index] else FaultKind.TASK

    def step(self) -> None:
        """Let something happen."""
        moves = [
            self.claim,
            self.finish,
            self.finish,
            self.vanish,
            self.wait_over,
            self.hold_over,
            self.press,
            self.repeat,
            self.overdue,
            self.resize,
        ]
        self.dice.choice(moves)()

    def claim(self) -> None:
        free = [index for index in self.offered if index not in self.running and index not in self.results]
        if free:
            index = self.dice.choice(free)
            attempt = self.offered.pop(index)
            if (index, attempt) in self.claims:
                return  # a doubled ticket: its claim.json stands
            self.claims.add((index, attempt))
            self.running[index] = attempt
            if self.dice.random() < 0.9:
                self.tell(on.Claimed(index, self.running[index]))

    def finish(self) -> None:
        if not self.running:
            return
        index = self.dice.choice(sorted(self.running))
        attempt = self.running.pop(index)
        if index in self.flaky and attempt == 1:
            kind = FaultKind.PROVIDER if index in self.pressing else FaultKind.HOST
            self.tell(on.AttemptEnded(index, attempt, Fault(kind=kind, detail="flaky")))
        elif self.dice.random() < 0.2 and self.ends[index]:
            self.tell(on.AttemptEnded(index, attempt, None))
        else:
            self.results[index] = self.fault(index)
            self.tell(on.Settled(index, self.results[index]))

    def vanish(self) -> None:
        if self.running and self.dice.random() < 0.2:
            index = self.dice.choice(sorted(self.running))
            if self.running[index] < MOST:
                self.lose(index, self.running.pop(index))

    def lose(self, index: int, attempt: int) -> None:
        """The lease ended without an outcome: the coordinator writes a lost one."""
        self.lost.add((index, attempt))
        self.tell(on.AttemptEnded(index, attempt, LOST))

    def wait_over(self) -> None:
        if self.waits:
            self.tell(self.waits.pop(self.dice.randrange(len(self.waits))))

    def hold_over(self) -> None:
        if self.holds:
            self.tell(self.holds.pop(self.dice.randrange(len(self.holds))))

    def press(self) -> None:
        if self.running and self.state.holds.providers and self.dice.random() < 0.2:
            index, attempt = self.dice.choice(sorted(self.running.items()))
            self.tell(on.Pressed(index, attempt, self.dice.choice([None, 7.0, 30.0])))

    def repeat(self) -> None:
        """Tell something old again: it must change nothing that matters."""
        if self.past:
            event = self.dice.choice(self.past)
            match event:
                case on.Claimed(index, attempt) | on.Overdue(index, attempt):
                    live = self.state.window.cells.get(index)
                    if live is not None and live.attempt == attempt:
                        return  # not stale: it would be a statement about the present
                case on.AttemptEnded() | on.Settled() | on.WaitOver() | on.Replayed() | on.HoldOver():
                    pass
                case _:
                    return
            before = self.state
            assert advance(before, event) == (before, ()), event

    def overdue(self) -> None:
        """Look into a queued cell that nobody runs: never claimed, or claimed by a worker that is gone."""
        cells = self.state.window.cells
        queued = [index for index, live in cells.items() if live.phase is Phase.QUEUED and index not in self.running]
        if not queued or self.dice.random() < 0.5:
            return
        index = self.dice.choice(queued)
        attempt = cells[index].attempt
        if (index, attempt) in self.claims:
            self.tell(on.Claimed(index, attempt))
            self.lose(index, attempt)
        else:
            self.tell(on.Overdue(index, attempt))

    def resize(self) -> None:
        if self.dice.random() < 0.2:
            self.tell(on.SlotsChanged(self.dice.randint(0, 8)))

    def drive(self) -> None:
        self.tell(on.SlotsChanged(self.dice.randint(1, 8)))
        for _ in range(200 * len(self.ends) + 200):
            if self.state.stage is Stage.OVER:
                return
            self.step()
        raise AssertionError(f"the machine does not end: {self.state}")


def world(seed: int, ends: list[bool], *, streak: int, flaky: set[int], ahead: int | None = None) -> World:
    policies = Policies(
        dispatch=DispatchPolicy(ahead=ahead),
        retry=RetryPolicy(most_attempts=MOST),
        breaker=BreakerPolicy(streak=streak),
    )
    return World(random.Random(seed), begin(len(ends), policies), ends, flaky)  # noqa: S311 (dice, not secrets)


seeds = st.integers(0, 2**32)
outcomes = st.lists(st.booleans(), max_size=30)
unlucky = st.lists(st.sampled_from([True, False, False, False]), max_size=30)


@settings(max_examples=1000, deadline=None, suppress_health_check=BUSY)
@given(seed=seeds, ends=outcomes, data=st.data())
def test_every_history_ends_with_each_cell_final_exactly_once(seed: int, ends: list[bool], data: st.DataObject) -> None:
    flaky = data.draw(st.sets(st.integers(0, max(0, len(ends) - 1))))
    played = world(seed, ends, streak=0, flaky=flaky)
    played.drive()
    assert played.closed is CloseReason.COMPLETE
    assert sorted(played.results) == list(range(len(ends)))
    assert played.first_sent == list(range(len(ends)))
    assert played.state.ledger.fold == len(ends)
    assert not played.state.window.cells


@settings(max_examples=300, deadline=None, suppress_health_check=BUSY)
@given(seed=seeds, ends=unlucky, streak=st.integers(0, 4), data=st.data())
def test_what_is_taken_over_is_through_when_dispatch_reaches_it_and_the_breaker_does_not_see_it(
    seed: int, ends: list[bool], streak: int, data: st.DataObject
) -> None:
    reused = data.draw(st.frozensets(st.integers(0, max(0, len(ends) - 1)), max_size=len(ends)))
    played = world(seed, ends, streak=streak, flaky=set())
    played.state = replace(played.state, reused=reused)
    played.drive()
    fresh = [index for index in range(len(ends)) if index not in reused]
    expected = breaker_decides([ends[index] for index in fresh], streak)
    assert played.state.breaker.tripped_at == (None if expected is None else fresh[expected])
    assert not set(played.attempts) & reused
    if expected is None:
        assert sorted(played.results) == list(range(len(ends)))


@settings(max_examples=500, deadline=None, suppress_health_check=BUSY)
@given(seed=seeds, ends=outcomes, data=st.data())
def test_holds_delay_cells_and_lose_none(seed: int, ends: list[bool], data: st.DataObject) -> None:
    providers = data.draw(st.lists(st.sampled_from([None, "a", "b"]), min_size=len(ends), max_size=len(ends)))
    played = world(seed, ends, streak=0, flaky=data.draw(st.sets(st.integers(0, max(0, len(ends) - 1)))))
    played.pressing = played.flaky
    played.state = begin(len(ends), played.state.policies, tuple(providers))
    played.drive()
    assert played.closed is CloseReason.COMPLETE
    assert sorted(played.first_sent) == sorted(played.results) == list(range(len(ends)))
    assert not played.state.window.cells


@settings(max_examples=300, deadline=None, suppress_health_check=BUSY)
@given(seed=seeds, ends=unlucky, streak=st.integers(1, 5), ahead=st.integers(1, 8))
def test_the_strict_policy_trips_at_the_same_cell_and_overruns_by_less_than_it_looks_ahead(
    seed: int, ends: list[bool], streak: int, ahead: int
) -> None:
    played = world(seed, ends, streak=streak, flaky=set(range(0, len(ends), 3)), ahead=ahead)
    played.drive()
    expected = breaker_decides(ends, streak)
    assert played.state.breaker.tripped_at == expected
    assert played.closed is (CloseReason.COMPLETE if expected is None else CloseReason.BREAKER)
    if expected is not None:
        assert max(played.attempts) <= expected + ahead - 1


@settings(max_examples=1000, deadline=None, suppress_health_check=BUSY)
@example(seed=688340567, ends=[False, True, True, True, True, True, False, True], streak=1)
@given(seed=seeds, ends=unlucky, streak=st.integers(1, 5))
def test_the_breaker_decides_the_same_whatever_the_order(seed: int, ends: list[bool], streak: int) -> None:
    played = world(seed, ends, streak=streak, flaky=set())
    played.drive()
    expected = breaker_decides(ends, streak)
    assert played.state.breaker.tripped_at == expected
    assert played.closed is (CloseReason.COMPLETE if expected is None else CloseReason.BREAKER)
    if expected is not None:
        assert set(range(expected + 1)) <= set(played.results)
        assert len(played.results) - played.results_at_trip <= played.outstanding_at_trip <= 16


@settings(max_examples=300, deadline=None, suppress_health_check=BUSY)
@given(seed=seeds, ends=unlucky, turns=st.integers(0, 60), is_cancel=st.booleans())
def test_after_a_cancel_or_the_deadline_nothing_is_sent(
    seed: int, ends: list[bool], turns: int, is_cancel: bool
) -> None:
    played = world(seed, ends, streak=3, flaky=set())
    played.tell(on.SlotsChanged(4))
    for _ in range(turns):
        played.step()
    before = played.state.reason
    was_over = played.state.stage is Stage.OVER
    played.tell(on.CancelAsked() if is_cancel else on.DeadlineReached())
    assert played.state.stage is Stage.OVER
    if not was_over:
        assert played.closed is (before or (CloseReason.CANCELLED if is_cancel else CloseReason.DEADLINE))
    for event in played.past:
        assert advance(played.state, event) == (played.state, ())


@settings(max_examples=300, deadline=None, suppress_health_check=BUSY)
@given(seed=seeds, ends=unlucky, turns=st.integers(0, 80), streak=st.integers(0, 4))
def test_a_machine_rebuilt_from_the_records_goes_on_to_the_same_end(
    seed: int, ends: list[bool], turns: int, streak: int
) -> None:
    first = world(seed, ends, streak=streak, flaky=set(range(0, len(ends), 3)))
    first.tell(on.SlotsChanged(3))
    for _ in range(turns):
        first.step()
    second = world(seed + 1, ends, streak=streak, flaky=first.flaky)
    second.results, second.running = dict(first.results), dict(first.running)
    second.claims = set(first.running.items())
    second.attempts = {index: attempt for index, attempt in first.attempts.items() if index in first.running}
    for index in sorted(first.results):
        second.tell(on.Settled(index, first.results[index]))
    for index, attempt in first.running.items():
        if index not in first.results:
            second.tell(on.Replayed(index, attempt, is_over=False))
    assert not second.offered
    second.drive()
    assert not set(second.first_sent) & (set(first.results) | set(first.running))
    assert second.state.breaker.tripped_at == breaker_decides(ends, streak)


@settings(max_examples=300, deadline=None, suppress_health_check=BUSY)
@given(ends=unlucky, order=st.randoms(use_true_random=False), streak=st.integers(1, 5))
def test_the_pause_begins_with_the_last_results_and_never_outlives_the_fold(
    ends: list[bool], order: random.Random, streak: int
) -> None:
    state, _ = advance(begin(len(ends), Policies(breaker=BreakerPolicy(streak=streak))), on.SlotsChanged(len(ends) + 1))
    done = list[int]()
    for index in order.sample(range(len(ends)), len(ends)):
        state, _ = advance(state, on.Settled(index, None if ends[index] else FaultKind.TASK))
        done.append(index)
        last = sorted(done)[-streak:]
        if state.stage is Stage.DISPATCHING and len(last) == streak and not any(ends[one] for one in last):
            assert state.paused_from is not None
        if state.paused_from is not None:
            assert state.ledger.fold < state.paused_from


@settings(max_examples=300, deadline=None, suppress_health_check=BUSY)
@given(ends=unlucky, order=st.randoms(use_true_random=False), streak=st.integers(0, 3), known=st.integers(0, 30))
def test_cells_that_are_restored_at_once_are_as_if_told_one_by_one(
    ends: list[bool], order: random.Random, streak: int, known: int
) -> None:
    policies = Policies(breaker=BreakerPolicy(streak=streak))
    done = order.sample(range(len(ends)), min(known, len(ends)))
    told, effects = begin(len(ends), policies), list[out.Effect]()
    for index in done:
        told, more = advance(told, on.Settled(index, None if ends[index] else FaultKind.TASK))
        effects += more
    bits = sum(1 << index for index in done)
    bad = sum(1 << index for index in done if not ends[index])
    restored, at_once = advance(begin(len(ends), policies), on.Restored(bits, bad))
    if told.stage is Stage.DISPATCHING:  # the pause may differ: it follows the order in which they came
        assert (restored.ledger, restored.breaker.run, restored.stage) == (told.ledger, told.breaker.run, told.stage)
    else:
        assert (restored.stage, restored.breaker.tripped_at) == (told.stage, told.breaker.tripped_at)
        assert at_once[-1] == effects[-1]
