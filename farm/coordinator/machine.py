"""The coordinator as a pure function: `advance(state, event) -> (state, effects)`. No I/O, no clock, no randomness.

What must stay true, and the property tests hold it to:

- cells are dispatched in plan order, as many as the window and the sweep's share of the fleet have room for; those of a
  provider on hold, or that has its fill, are passed over;
- no cell is sent that would outlast the time that is left: it is put aside, and the sweep stays open;
- a cell has at most one attempt that may run, attempt numbers only grow, and after its result nothing is sent;
- what the breaker decides depends on the results in plan order alone, not on when they came;
- after a cancel, the deadline, a trip or a bug nothing is sent;
- an event that is late, doubled or stale changes nothing.
"""

from dataclasses import replace
from typing import assert_never

from farm.coordinator import effects as out
from farm.coordinator import events as on
from farm.coordinator import retry
from farm.coordinator.events import Event
from farm.coordinator.ledger import mask_of
from farm.coordinator.round import Round, choose
from farm.coordinator.state import Policies, Stage, State, Step, begin
from farm.coordinator.window import MAY_RUN, SENT, Live, Phase, Window
from farm.model import CloseReason, FaultKind, StopReason

__all__ = ["Policies", "Stage", "State", "Step", "advance", "begin"]


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
        case on.SlotsChanged() | on.Replayed() | on.HoldOver() | on.TimeLeft() | on.Spent() | on.QuotaChanged():
            return _noted(state, event), ()
        case on.CancelAsked() | on.DeadlineReached():
            is_cancel = isinstance(event, on.CancelAsked)
            return _stopped(state, CloseReason.CANCELLED if is_cancel else CloseReason.DEADLINE)
        case on.ClaimsClosed():
            return _drained(state, event.held)
        case on.Restored():
            ledger = state.ledger.restore(event.done, event.unusable, mask_of(state.reused))
            budget = state.budget.restore(event.cost, event.tokens)
            return _folded(replace(state, ledger=ledger, budget=budget), state.cells, is_usable=False)
        case on.Settled():
            return _felt(state, _settled(state, event), event.index, event.fault)
        case on.Claimed() | on.AttemptEnded() | on.Overdue() | on.WaitOver() | on.Pressed():
            live = state.window.cells.get(event.index)
            return (state, ()) if live is None or live.attempt != event.attempt else _current(state, event, live)
        case _:
            assert_never(event)


NotedEvent = on.SlotsChanged | on.Replayed | on.HoldOver | on.TimeLeft | on.Spent | on.QuotaChanged


def _noted(state: State, event: NotedEvent) -> State:
    match event:
        case on.SlotsChanged():
            return _seen(state, event)
        case on.Replayed():
            return _replayed(state, event)
        case on.HoldOver():
            holds = state.holds.over(event.provider, event.number)
            return state if holds is state.holds else replace(state, holds=holds)
        case on.TimeLeft():
            hours = replace(state.hours, left_s=event.left_s)
            return state if hours == state.hours else replace(state, hours=hours)
        case on.Spent():
            return _spent(state, event)
        case on.QuotaChanged():
            return state if event.quota == state.quota else replace(state, quota=event.quota)
        case _:
            assert_never(event)


def _seen(state: State, event: on.SlotsChanged) -> State:
    """Take in the fleet; tickets of a lane that closed are sent again when it opens, and hold no place till then."""
    lanes = state.lanes.close(event.closed)
    if lanes.closed == state.lanes.closed:
        return state if event.slots == state.slots else replace(state, slots=event.slots)
    cells = {
        index: Live(live.attempt, Phase.READY) if live.phase is Phase.QUEUED and lanes.is_closed(index) else live
        for index, live in state.window.cells.items()
    }
    # from the fold on: a lane that opens has cells that were passed over
    return replace(state, slots=event.slots, lanes=lanes, window=Window.of(cells), untouched=state.ledger.fold)


AttemptEvent = on.Claimed | on.AttemptEnded | on.Overdue | on.WaitOver | on.Pressed
_PRESSING = frozenset({FaultKind.RATE_LIMIT, FaultKind.PROVIDER})


def _current(state: State, event: AttemptEvent, live: Live) -> Step:
    """Take in an event of a cell's current attempt."""
    match event:
        case on.Claimed() if live.phase in {Phase.READY, Phase.QUEUED}:
            return _in_phase(state, event.index, Live(live.attempt, Phase.RUNNING)), ()
        case on.AttemptEnded() if live.phase in MAY_RUN or live.phase is Phase.SETTLING:
            wait_s = None if event.fault is None else event.fault.retry_after_s
            kind = None if event.fault is None else event.fault.kind
            return _felt(state, _ended(state, event), event.index, kind, wait_s)
        case on.Pressed() if live.phase in MAY_RUN:
            return _pressed(state, event.index, event.retry_after_s)
        case on.Overdue() if live.phase in SENT:
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
    has_time = state.hours.fits(index)
    policy = state.policies.retry_of(index)
    match retry.after(end.fault, attempt - end.interrupted, policy, spread, has_time=has_time):
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
            return _put_off(state, (index,), out.Deferral.WINDOW)
        case other:
            assert_never(other)


def _put_off(state: State, indices: tuple[int, ...], why: out.Deferral) -> Step:
    """Leave the cells to a later run."""
    ledger, hours = state.ledger, state.hours
    for index in indices:
        ledger = ledger.skip(index)
        hours = hours.put_off(index) if why is out.Deferral.WINDOW else hours
    left = replace(state, window=state.window.without(indices), ledger=ledger, hours=hours)
    left = replace(left, deferred=state.deferred | {why}, budget=state.budget.release(indices))
    return _folded(left, indices[-1], is_usable=False)


def _settled(state: State, event: on.Settled) -> Step:
    if event.index >= state.cells or state.ledger.has(event.index):
        return state, ()
    is_usable = event.fault is None and event.is_sound
    known = event.index in state.reused
    noted = replace(
        state,
        ledger=state.ledger.take_over(event.index) if known else state.ledger.note(event.index, is_usable=is_usable),
        window=state.window.drop(event.index),
    )
    if event.fault is FaultKind.BUG and noted.stage is Stage.DISPATCHING:
        return _stopped(noted, CloseReason.BUG)
    return _folded(noted, event.index, is_usable=is_usable and not known)


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


def _spent(state: State, event: on.Spent) -> State:
    if not state.pays(event.index):
        return state
    is_of_an_earlier_run = state.slots is None and event.index not in state.budget.reserved
    budget = state.budget
    if is_of_an_earlier_run:
        budget = budget.count(event.spend)
    else:
        budget = budget.settle(event.index, event.attempt, event.spend)
    return state if budget is state.budget else replace(state, budget=budget)


def _replayed(state: State, event: on.Replayed) -> State:
    is_new = event.index < state.cells and event.index not in state.window.cells and not state.ledger.has(event.index)
    if not is_new or state.slots is not None:
        return state
    if event.is_over:
        return _in_phase(state, event.index, Live(event.attempt + 1, Phase.READY))
    running = _in_phase(state, event.index, Live(event.attempt, Phase.RUNNING))
    budget = state.budget.reserve({event.index: event.attempt}) if state.pays(event.index) else state.budget
    return replace(running, budget=budget)


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
        index: Live(live.attempt, Phase.RUNNING) if live.phase in MAY_RUN else live
        for index, live in state.window.cells.items()
        if live.phase in {Phase.RUNNING, Phase.SETTLING} or (index in held and live.phase in MAY_RUN)
    }
    return replace(state, window=Window.of(window), stage=Stage.DRAINING), ()


def _onward(state: State) -> Step:
    """Send what there is room for, or see that nothing is left to do."""
    if state.stage is Stage.DRAINING and not state.window.cells:
        return _over(state, state.reason or CloseReason.BREAKER)
    if state.stage is not Stage.DISPATCHING or state.slots is None:
        return state, ()
    sent, effects = _dispatched(state, state.slots)
    if sent.window.cells or sent.untouched < sent.cells or sent.ledger.fold < sent.cells:
        return sent, effects
    if sent.ledger.put_aside:
        return replace(sent, stage=Stage.OVER), (*effects, out.LeaveOpen(sent.deferred))
    over, closing = _over(sent, CloseReason.COMPLETE)
    return over, effects + closing


def _over(state: State, reason: CloseReason) -> Step:
    return replace(state, stage=Stage.OVER, reason=reason), (out.CloseSweep(reason),)


def _dispatched(state: State, slots: int) -> Step:
    """Send tickets for what there is room for, and put off what would come too late or cost too much."""
    chosen = choose(state, slots)
    if chosen.late or chosen.dear:
        return _without(state, chosen, slots)
    if not chosen.tickets and not chosen.reached and not chosen.held and chosen.untouched == state.untouched:
        return state, ()
    window = state.window.keep(chosen.held)
    window = window.send((one.index, one.attempt) for one in chosen.tickets) if chosen.tickets else window
    window = window.settle(chosen.reached) if chosen.reached else window
    paying = {one.index: one.attempt for one in chosen.tickets if state.pays(one.index)}
    budget = state.budget.reserve(paying)
    known = tuple(out.TakeOver(index) for index in chosen.reached)
    return replace(state, window=window, untouched=chosen.untouched, budget=budget), (*known, *chosen.tickets)


def _without(state: State, chosen: Round, slots: int) -> Step:
    """Put cells off, and look again at the others with the pause that this may have changed."""
    effects: tuple[out.Effect, ...] = ()
    state = replace(state, untouched=chosen.untouched)
    state = replace(
        state, window=state.window.keep((*chosen.held, *chosen.reached, *(one.index for one in chosen.tickets)))
    )
    for indices, why in ((chosen.late, out.Deferral.WINDOW), (chosen.dear, out.Deferral.BUDGET)):
        if indices and state.stage is Stage.DISPATCHING:
            state, more = _put_off(state, indices, why)
            effects += more
    if state.stage is not Stage.DISPATCHING:
        return state, effects
    sent, more = _dispatched(state, slots)
    return sent, effects + more
