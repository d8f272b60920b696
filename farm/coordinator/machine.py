"""The coordinator as a pure function: `advance(state, event) -> (state, effects)`. No I/O, no clock, no randomness.

What must stay true, and the property tests hold it to:

- cells are dispatched in plan order, as many as the window has room for; those of a provider on hold are passed over;
- a cell has at most one attempt that may run, attempt numbers only grow, and after its result nothing is sent;
- what the breaker decides depends on the results in plan order alone, not on when they came;
- after a cancel, the deadline, a trip or a bug nothing is sent;
- an event that is late, doubled or stale changes nothing.
"""

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import assert_never

from farm.coordinator import effects as out
from farm.coordinator import events as on
from farm.coordinator import retry
from farm.coordinator.breaker import Breaker
from farm.coordinator.effects import Effect
from farm.coordinator.events import Event
from farm.coordinator.holds import Holds, Turnstile
from farm.coordinator.ledger import Ledger
from farm.coordinator.window import Live, Phase, Window, room
from farm.model import BreakerPolicy, CloseReason, DispatchPolicy, FaultKind, Plan, RetryPolicy, StopReason


@dataclass(frozen=True, slots=True)
class Policies:
    """The plan's rules that the machine follows."""

    dispatch: DispatchPolicy = field(default_factory=DispatchPolicy)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    breaker: BreakerPolicy = field(default_factory=BreakerPolicy)
    salt: str = ""
    """What the jitter of waits is drawn from: the plan's digest, so that a replay draws the same."""

    @classmethod
    def of(cls, plan: Plan) -> "Policies":
        return cls(dispatch=plan.dispatch, retry=plan.retry, breaker=plan.breaker, salt=plan.digest)


class Stage(Enum):
    """How far the sweep is."""

    DISPATCHING = auto()
    CLOSING = auto()
    """The breaker tripped; claims are being closed."""
    DRAINING = auto()
    """No claim succeeds any more; what runs may finish."""
    OVER = auto()


@dataclass(frozen=True, slots=True)
class State:
    """Everything that the next decision depends on; bounded by what is outstanding, and three integers."""

    cells: int
    policies: Policies
    breaker: Breaker
    ledger: Ledger = field(default_factory=Ledger)
    window: Window = field(default_factory=Window)
    holds: Holds = field(default_factory=Holds)
    untouched: int = 0
    """The first cell that was never in the window."""
    slots: int | None = None
    """None until the fleet is known: nothing is sent before."""
    stage: Stage = Stage.DISPATCHING
    reason: CloseReason | None = None
    """Why it stops, from the moment that this is decided."""

    @property
    def paused_from(self) -> int | None:
        """The first cell that the breaker's pause holds back; None while nothing is paused."""
        return None if self.breaker.suspicion is None else self.breaker.suspicion.last + 1


Step = tuple[State, tuple[Effect, ...]]


def begin(
    cells: int, policies: Policies, providers: tuple[str | None, ...] = (), elsewhere: tuple[int, ...] = ()
) -> State:
    """Start with `cells` cells in plan order, none of them sent; `providers` names each cell's, if any has one.

    The cells of `elsewhere` are another coordinator's: as if the plan did not hold them.
    """
    breaker = Breaker(streak=policies.breaker.streak)
    ledger = Ledger().without(elsewhere) if elsewhere else Ledger()
    return State(cells=cells, policies=policies, breaker=breaker, ledger=ledger, holds=Holds(providers))


def advance(state: State, event: Event) -> Step:
    """Take in one event; return the next state, and what is to be done in that order."""
    if state.stage is Stage.OVER:
        return state, ()
    changed, effects = _take(state, event)
    if changed is state:
        return state, effects
    moved, sent = _onward(changed)
    return moved, effects + sent


def _take(state: State, event: Event) -> Step:
    match event:
        case on.SlotsChanged() | on.Replayed() | on.HoldOver():
            return _noted(state, event), ()
        case on.CancelAsked() | on.DeadlineReached():
            is_cancel = isinstance(event, on.CancelAsked)
            return _stopped(state, CloseReason.CANCELLED if is_cancel else CloseReason.DEADLINE)
        case on.ClaimsClosed():
            return _drained(state, event.held)
        case on.Settled():
            return _felt(state, _settled(state, event), event.index, event.fault)
        case on.Claimed() | on.AttemptEnded() | on.Overdue() | on.WaitOver() | on.Pressed():
            live = state.window.cells.get(event.index)
            return (state, ()) if live is None or live.attempt != event.attempt else _current(state, event, live)
        case _:
            assert_never(event)


def _noted(state: State, event: on.SlotsChanged | on.Replayed | on.HoldOver) -> State:
    match event:
        case on.SlotsChanged():
            return state if event.slots == state.slots else replace(state, slots=event.slots)
        case on.Replayed():
            return _replayed(state, event)
        case on.HoldOver():
            holds = state.holds.over(event.provider, event.number)
            return state if holds is state.holds else replace(state, holds=holds)
        case _:
            assert_never(event)


AttemptEvent = on.Claimed | on.AttemptEnded | on.Overdue | on.WaitOver | on.Pressed
_PRESSING = frozenset({FaultKind.RATE_LIMIT, FaultKind.PROVIDER})
_MAY_RUN = frozenset({Phase.READY, Phase.QUEUED, Phase.RUNNING})
_SENT = frozenset({Phase.QUEUED, Phase.RUNNING})


def _current(state: State, event: AttemptEvent, live: Live) -> Step:
    """Take in an event of a cell's current attempt."""
    match event:
        case on.Claimed() if live.phase in {Phase.READY, Phase.QUEUED}:
            return _in_phase(state, event.index, Live(live.attempt, Phase.RUNNING)), ()
        case on.AttemptEnded() if live.phase in _MAY_RUN or live.phase is Phase.SETTLING:
            wait_s = None if event.fault is None else event.fault.retry_after_s
            kind = None if event.fault is None else event.fault.kind
            return _felt(state, _ended(state, event), event.index, kind, wait_s)
        case on.Pressed() if live.phase in _MAY_RUN:
            return _pressed(state, event.index, event.retry_after_s)
        case on.Overdue() if live.phase in _SENT:
            return _unclaimed(state, event.index, live), ()
        case on.WaitOver() if live.phase is Phase.WAITING:
            return _in_phase(state, event.index, Live(live.attempt, Phase.READY)), ()
        case _:
            return state, ()


def _unclaimed(state: State, index: int, live: Live) -> State:
    """Offer the attempt again; while the sweep drains nobody can claim it any more."""
    if state.stage is Stage.DRAINING:
        return replace(state, window=state.window.drop(index))
    return _in_phase(state, index, Live(live.attempt, Phase.READY))


def _felt(before: State, step: Step, index: int, fault: FaultKind | None, retry_after_s: float | None = None) -> Step:
    """Let the hold of the cell's provider follow an end that is news; what earlier runs recorded is none."""
    state, effects = step
    provider = state.holds.provider(index)
    if state is before or provider is None or state.slots is None or state.stage is not Stage.DISPATCHING:
        return step
    if fault is None:
        return replace(state, holds=state.holds.relieve(provider)), effects
    if fault not in _PRESSING:
        return step
    held, start = _pressed(state, index, retry_after_s)
    return held, effects + start


def _pressed(state: State, index: int, retry_after_s: float | None) -> Step:
    provider = state.holds.provider(index)
    holds = state.holds if provider is None else state.holds.press(provider, retry_after_s)
    if provider is None or holds is state.holds:
        return state, ()
    hold = holds.known[provider]
    return replace(state, holds=holds), (out.StartHold(provider, hold.number, hold.delay_s),)


def _in_phase(state: State, index: int, live: Live) -> State:
    return replace(state, window=state.window.put(index, live))


def _ended(state: State, end: on.AttemptEnded) -> Step:
    index, live = end.index, state.window.cells[end.index]
    attempt = live.attempt
    spread = retry.share(state.policies.salt, index, attempt)
    match retry.after(end.fault, attempt - end.interrupted, state.policies.retry, spread):
        case retry.Settle():
            if live.phase is Phase.SETTLING:
                return state, ()
            return _in_phase(state, index, Live(attempt, Phase.SETTLING)), (out.SettleOutcome(index, attempt),)
        case retry.Again() if state.stage is not Stage.DISPATCHING:
            return replace(state, window=state.window.drop(index)), ()
        case retry.Again(delay_s) if delay_s > 0:
            waiting = _in_phase(state, index, Live(attempt + 1, Phase.WAITING))
            return waiting, (out.StartWait(index, attempt + 1, delay_s),)
        case retry.Again():
            return _in_phase(state, index, Live(attempt + 1, Phase.READY)), ()
        case retry.PutAside():
            left = replace(state, window=state.window.drop(index), ledger=state.ledger.skip(index))
            return _folded(left, index, is_usable=False)
        case other:
            assert_never(other)


def _settled(state: State, event: on.Settled) -> Step:
    if event.index >= state.cells or state.ledger.has(event.index):
        return state, ()
    is_usable = event.fault is None
    noted = replace(
        state,
        ledger=state.ledger.note(event.index, is_usable=is_usable),
        window=state.window.drop(event.index),
    )
    if event.fault is FaultKind.BUG and noted.stage is Stage.DISPATCHING:
        return _stopped(noted, CloseReason.BUG)
    return _folded(noted, event.index, is_usable=is_usable)


def _folded(state: State, index: int, *, is_usable: bool) -> Step:
    """Move the fold on, and let the breaker look at what it folds and at what lies ahead."""
    ledger = state.ledger
    if state.stage is not Stage.DISPATCHING:
        return replace(state, ledger=ledger.advance()), ()
    breaker = state.breaker.fold(ledger.fold, ledger.foldable())
    ledger = ledger.advance()
    if breaker.tripped_at is not None:
        closing = replace(state, ledger=ledger, breaker=breaker, stage=Stage.CLOSING, reason=CloseReason.BREAKER)
        return closing, (out.CloseClaims(),)
    breaker = breaker.suspect(ledger, index, is_usable=is_usable)
    return _held_back(replace(state, ledger=ledger, breaker=breaker), state.paused_from)


def _held_back(state: State, before: int | None) -> Step:
    """Follow a change of the pause: tickets that it refuses are sent again when it ends."""
    start = state.paused_from
    if start == before:
        return state, ()
    if start is None:
        return state, (out.Resume(),)
    window = {
        index: Live(live.attempt, Phase.READY) if live.phase is Phase.QUEUED and index >= start else live
        for index, live in state.window.cells.items()
    }
    return replace(state, window=Window.of(window)), (out.PauseFrom(start),)


def _replayed(state: State, event: on.Replayed) -> State:
    is_new = event.index < state.cells and event.index not in state.window.cells and not state.ledger.has(event.index)
    if not is_new or state.slots is not None:
        return state
    live = Live(event.attempt + 1, Phase.READY) if event.is_over else Live(event.attempt, Phase.RUNNING)
    return _in_phase(state, event.index, live)


def _stopped(state: State, reason: CloseReason) -> Step:
    """End at once. A reason that was decided before stands."""
    order = StopReason.DEADLINE if reason is CloseReason.DEADLINE else StopReason.CANCEL
    kept = state.reason or reason
    over = replace(state, stage=Stage.OVER, reason=kept, window=Window())
    return over, (out.OrderStop(order), out.CloseSweep(kept))


def _drained(state: State, held: frozenset[int]) -> Step:
    if state.stage is not Stage.CLOSING:
        return state, ()
    window = {
        index: Live(live.attempt, Phase.RUNNING) if live.phase in _MAY_RUN else live
        for index, live in state.window.cells.items()
        if live.phase in {Phase.RUNNING, Phase.SETTLING} or (index in held and live.phase in _MAY_RUN)
    }
    return replace(state, window=Window.of(window), stage=Stage.DRAINING), ()


def _onward(state: State) -> Step:
    """Send what there is room for, or see that nothing is left to do."""
    if state.stage is Stage.DRAINING and not state.window.cells:
        return _over(state, state.reason or CloseReason.BREAKER)
    if state.stage is not Stage.DISPATCHING or state.slots is None:
        return state, ()
    sent, effects = _dispatched(state, state.slots)
    if sent.window.cells or sent.untouched < sent.cells:
        return sent, effects
    if sent.ledger.put_aside:
        return replace(sent, stage=Stage.OVER), (*effects, out.LeaveOpen())
    over, closing = _over(sent, CloseReason.COMPLETE)
    return over, effects + closing


def _over(state: State, reason: CloseReason) -> Step:
    return replace(state, stage=Stage.OVER, reason=reason), (out.CloseSweep(reason),)


def _dispatched(state: State, slots: int) -> Step:
    """Send tickets in plan order: what is ready in the window, and cells that were never in it."""
    places = room(state.window, state.policies.dispatch, slots)
    untouched = _skip_known(state, state.untouched)
    if places <= 0:
        return (state if untouched == state.untouched else replace(state, untouched=untouched)), ()
    limit = state.cells if state.paused_from is None else min(state.cells, state.paused_from)
    ready = sorted(index for index in state.window.ready if index < limit)
    turnstile = Turnstile(state.holds, _busy_providers(state))
    spare = state.policies.dispatch.room(slots) - state.window.waiting
    tickets, held = list[out.SendTicket](), list[int]()
    while len(tickets) < places:
        if len(held) < spare and untouched < limit and (not ready or untouched < ready[0]):
            ticket = out.SendTicket(untouched, 1)
            untouched = _skip_known(state, untouched + 1)
        elif ready:
            index = ready.pop(0)
            ticket = out.SendTicket(index, state.window.cells[index].attempt)
        else:
            break
        if turnstile.admits(ticket.index):
            tickets.append(ticket)
        else:
            held.append(ticket.index)
    window = state.window.keep(held)
    window = window.send((ticket.index, ticket.attempt) for ticket in tickets) if tickets else window
    return replace(state, window=window, untouched=untouched), tuple(tickets)


def _busy_providers(state: State) -> frozenset[str | None]:
    """Name the providers of outstanding cells, where it matters."""
    if not state.holds.probing:
        return frozenset()
    outstanding = _SENT | {Phase.SETTLING}
    cells = state.window.cells.items()
    return frozenset(state.holds.provider(index) for index, live in cells if live.phase in outstanding)


def _skip_known(state: State, index: int) -> int:
    """Return the first cell at or after `index` that is neither through nor in the window."""
    while True:
        index = state.ledger.next_missing(index)
        if index not in state.window.cells:
            return min(index, state.cells)
        index += 1
