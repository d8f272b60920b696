"""The laws of what a run may use: money and time, over random histories of a fleet that fails, vanishes and repeats."""

import random
from dataclasses import dataclass, field
from decimal import Decimal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from farm.coordinator import effects as out
from farm.coordinator import events as on
from farm.coordinator.budget import Budget, Spend
from farm.coordinator.machine import Policies, Stage, State, advance, begin
from farm.coordinator.window import Phase
from farm.model import BreakerPolicy, CellBudget, CloseReason, Fault, FaultKind, RetryPolicy, SweepBudget

BUSY = [HealthCheck.too_slow]  # a busy machine is no defect
EACH = 10
"""The most that an attempt uses."""
DONE = {Phase.READY, Phase.WAITING}
HOST = Fault(kind=FaultKind.HOST, detail="broken")
LATE = Fault(kind=FaultKind.DEFERRED, detail="its window closed")


@dataclass
class World:
    """Workers that use what they use, whether or not anybody gets to know it."""

    dice: random.Random
    state: State
    needs: list[int]
    sent: dict[int, int] = field(default_factory=dict)
    running: dict[int, int] = field(default_factory=dict)
    used: int = 0
    """By every attempt that ever ran, in truth."""
    results: set[int] = field(default_factory=set)
    waits: list[on.WaitOver] = field(default_factory=list)
    ended: list[on.Event] = field(default_factory=list)
    end: out.CloseSweep | out.LeaveOpen | None = None

    def fits(self, index: int) -> bool:
        left_s = self.state.hours.left_s
        return left_s is None or self.needs[index] <= left_s

    @property
    def most(self) -> Decimal:
        most = self.state.policies.budget.tokens.most
        return Decimal("Infinity") if most is None else most

    def tell(self, event: on.Event) -> None:
        self.state, effects = advance(self.state, event)
        for effect in effects:
            self.perform(effect)

    def perform(self, effect: out.Effect) -> None:
        match effect:
            case out.SendTicket(index, attempt):
                assert index not in self.results
                assert self.fits(index), "nothing is sent that would outlast the time that is left"
                assert self.state.budget.tokens.spent_at_most <= self.most
                self.sent[index] = attempt
            case out.StartWait(index, attempt):
                self.waits.append(on.WaitOver(index, attempt))
            case out.SettleOutcome(index):
                self.results.add(index)
                self.tell(on.Settled(index, FaultKind.HOST))
            case out.CloseSweep() | out.LeaveOpen():
                self.end = effect
            case _:
                pass

    def step(self) -> None:
        moves = [self.claim, self.claim, self.finish, self.finish, self.finish, self.wait, self.clock, self.repeat]
        self.dice.choice(moves)()

    def claim(self) -> None:
        free = sorted(self.sent.keys() - self.running.keys())
        if not free:
            return
        index = self.dice.choice(free)
        if not self.fits(index):  # its worker refuses it, and the ticket is overdue some day
            self.tell(on.Overdue(index, self.sent.pop(index)))
        else:
            self.running[index] = self.sent.pop(index)
            self.tell(on.Claimed(index, self.running[index]))

    def finish(self) -> None:
        """Let an attempt end: it has used something, which may be unknown; it may have to be tried again."""
        if not self.running:
            return
        index = self.dice.choice(sorted(self.running))
        attempt = self.running.pop(index)
        used = self.dice.randint(0, EACH)
        self.used += used
        self.told(on.Spent(index, attempt, Spend(None, used if self.dice.random() < 0.7 else None)))
        if not self.fits(index):
            self.told(on.AttemptEnded(index, attempt, LATE))
        elif self.dice.random() < 0.3:
            self.told(on.AttemptEnded(index, attempt, HOST))
        else:
            self.results.add(index)
            self.told(on.Settled(index, None))

    def told(self, event: on.Event) -> None:
        self.ended.append(event)
        self.tell(event)

    def wait(self) -> None:
        if self.waits:
            self.tell(self.waits.pop())

    def clock(self) -> None:
        left_s = self.state.hours.left_s
        if left_s is not None and self.dice.random() < 0.3:
            self.tell(on.TimeLeft(max(0.0, left_s - self.dice.choice([1, 10, 60]))))

    def repeat(self) -> None:
        if self.ended:
            before, event = self.state, self.dice.choice(self.ended)
            assert advance(before, event) == (before, ()), "what is told twice counts once"

    def drive(self) -> None:
        self.tell(on.SlotsChanged(self.dice.randint(1, 6)))
        for _ in range(400 * self.state.cells + 400):
            if self.state.stage is Stage.OVER:
                return
            assert self.used <= self.most, "no fleet uses more than the budget"
            self.step()
        raise AssertionError(f"the machine does not end: {self.state}")


def world(seed: int, needs: list[int], *, tokens: int | None, left_s: float | None) -> World:
    budget = Budget() if tokens is None else Budget.begin(SweepBudget(tokens=tokens), CellBudget(tokens=EACH))
    policies = Policies(retry=RetryPolicy(), breaker=BreakerPolicy(streak=0), budget=budget)
    state = begin(len(needs), policies, ("a",) * len(needs), needs_s=tuple(map(float, needs)))
    made = World(random.Random(seed), state, needs)  # noqa: S311 (dice, not secrets)
    made.tell(on.TimeLeft(left_s))
    return made


seeds = st.integers(0, 2**32)
cells = st.lists(st.integers(1, 100), min_size=1, max_size=25)


@settings(max_examples=400, deadline=None, suppress_health_check=BUSY)
@given(seed=seeds, needs=cells, tokens=st.integers(1, 300))
def test_a_budget_is_never_passed_and_what_it_has_no_room_for_stays_open(
    seed: int, needs: list[int], tokens: int
) -> None:
    played = world(seed, needs, tokens=tokens, left_s=None)
    played.drive()
    assert played.used <= tokens
    known = played.state.budget.tokens
    assert known.known <= played.used <= known.spent_at_most <= tokens
    assert played.state.budget.reserved == {}
    if played.end == out.LeaveOpen(frozenset({out.Deferral.BUDGET})):
        assert len(played.results) + played.state.ledger.put_aside == len(needs)
        assert known.spent_at_most + EACH > tokens, "it is used up, as far as one can know"
    else:
        assert played.end == out.CloseSweep(CloseReason.COMPLETE)
        assert len(played.results) == len(needs)


@settings(max_examples=400, deadline=None, suppress_health_check=BUSY)
@given(seed=seeds, needs=cells, left_s=st.integers(0, 200))
def test_nothing_is_begun_that_outlasts_the_window_and_what_is_deferred_is_no_result(
    seed: int, needs: list[int], left_s: int
) -> None:
    played = world(seed, needs, tokens=None, left_s=left_s)
    played.drive()
    assert len(played.results) + played.state.ledger.put_aside == len(needs)
    if played.state.ledger.put_aside:
        assert played.end == out.LeaveOpen(frozenset({out.Deferral.WINDOW}))
        open_cells = set(range(len(needs))) - played.results
        assert played.state.hours.put_off_s == min(needs[index] for index in open_cells)
    else:
        assert played.end == out.CloseSweep(CloseReason.COMPLETE)


@settings(max_examples=200, deadline=None, suppress_health_check=BUSY)
@given(seed=seeds, needs=cells, tokens=st.integers(1, 300), left_s=st.integers(0, 200))
def test_money_and_time_may_run_out_together(seed: int, needs: list[int], tokens: int, left_s: int) -> None:
    played = world(seed, needs, tokens=tokens, left_s=left_s)
    played.drive()
    assert played.used <= tokens
    assert len(played.results) + played.state.ledger.put_aside == len(needs)
