"""One round of tickets: which cells may be sent now, which are passed over, which wait for a later run."""

from collections import Counter
from dataclasses import dataclass, replace

from farm.coordinator.effects import SendTicket
from farm.coordinator.holds import Turnstile
from farm.coordinator.state import State
from farm.coordinator.window import SENT, Phase


@dataclass(frozen=True, slots=True)
class Round:
    """What was decided about the cells that were looked at."""

    tickets: tuple[SendTicket, ...] = ()
    reached: tuple[int, ...] = ()
    """Cells to be taken over."""
    held: tuple[int, ...] = ()
    """Cells that something holds back: they are ready."""
    late: tuple[int, ...] = ()
    """Cells that would outlast the time that is left."""
    dear: tuple[int, ...] = ()
    """Cells for which the budget will have no room in this run."""
    untouched: int = 0
    """The first cell that was not looked at."""


def choose(state: State, slots: int) -> Round:
    """Look in plan order at what is ready in the window, and at cells that were never in it."""
    most = room(state, slots)
    places = most - state.window.outstanding
    if places <= 0 and state.window.outstanding:
        return Round(untouched=skip_known(state, state.untouched))
    if places <= 0:  # the whole fleet is others': what waits for a later run is found all the same
        looked = _look(state, 1, 1)
        held = (*looked.held, *(ticket.index for ticket in looked.tickets))
        return replace(looked, tickets=(), held=held)
    return _look(state, places, most - state.window.waiting)


def _look(state: State, places: int, spare: int) -> Round:
    """Fill so many places; at most `spare` cells are held ready for later."""
    untouched = skip_known(state, state.untouched)
    limit = _limit(state)
    ready = sorted(index for index in state.window.ready if index < limit and not state.lanes.is_closed(index))
    turnstile = Turnstile(state.holds, _at_providers(state), state.quota.providers)
    tickets, reached, held, late, dear = list[SendTicket](), list[int](), list[int](), list[int](), list[int]()
    paying = 0
    while len(tickets) + len(reached) < places:
        if len(held) < spare and untouched < limit and (not ready or untouched < ready[0]):
            ticket = SendTicket(untouched, 1)
            untouched = skip_known(state, untouched + 1)
        elif ready:
            index = ready.pop(0)
            ticket = SendTicket(index, state.window.cells[index].attempt)
        else:
            break
        is_new = state.pays(ticket.index) and ticket.index not in state.budget.reserved
        if ticket.index in state.reused:
            reached.append(ticket.index)
        elif not state.hours.fits(ticket.index):
            late.append(ticket.index)
        elif is_new and state.budget.is_used_up:
            dear.append(ticket.index)
        elif is_new and not state.budget.may_send(sent=paying):
            held.append(ticket.index)
        elif turnstile.admits(ticket.index):
            tickets.append(ticket)
            paying += is_new
        else:
            held.append(ticket.index)
    return Round(tuple(tickets), tuple(reached), tuple(held), tuple(late), tuple(dear), untouched)


def _limit(state: State) -> int:
    """Give the first cell that may not be sent now, wherever there is room."""
    ahead = state.policies.dispatch.ahead
    limit = state.cells if ahead is None else min(state.cells, state.ledger.fold + ahead)
    return limit if state.paused_from is None else min(limit, state.paused_from)


def skip_known(state: State, index: int) -> int:
    """Return the first cell at or after `index` that is in an open lane and neither through nor in the window."""
    while index < state.cells:
        found = state.lanes.next_open(state.ledger.next_missing(index))
        if found == index and index not in state.window.cells:
            return index
        index = max(found, index + (found == index))
    return state.cells


def room(state: State, slots: int) -> int:
    """Count the cells that may be outstanding."""
    policy, share = state.policies.dispatch, state.quota.slots
    return policy.room(slots) if share is None else policy.room(share) if share else 0


def _at_providers(state: State) -> Counter[str | None]:
    """Count the outstanding cells of each provider, where it matters."""
    if not state.holds.probing and not state.quota.providers:
        return Counter()
    outstanding = SENT | {Phase.SETTLING}
    cells = state.window.cells.items()
    return Counter(state.holds.provider(index) for index, live in cells if live.phase in outstanding)
