"""The coordinator's machine, played event by event."""

from farm.coordinator import events as on
from farm.coordinator.effects import (
    Deferral,
    Effect,
    SendTicket,
    StartHold,
)
from farm.coordinator.events import Event
from farm.coordinator.machine import Policies, State, advance, begin
from farm.model import (
    BreakerPolicy,
    Fault,
    FaultKind,
)

TASK = FaultKind.TASK


WINDOW = frozenset({Deferral.WINDOW})


def play(state: State, *events: Event) -> tuple[State, list[Effect]]:
    """Take in events; return the last state and all effects."""
    done = list[Effect]()
    for event in events:
        state, effects = advance(state, event)
        done.extend(effects)
    return state, done


def a_state(cells: int = 10, slots: int = 2, needs_s: tuple[float, ...] = (), **policies: object) -> State:
    state = begin(cells, Policies(**policies), needs_s=needs_s)  # type: ignore[arg-type]  # the policies' own fields
    return advance(state, on.SlotsChanged(slots))[0]


def fault(kind: FaultKind, retry_after_s: float | None = None) -> Fault:
    return Fault(kind=kind, detail="broken", retry_after_s=retry_after_s)


def tickets(effects: list[Effect]) -> list[int]:
    return [effect.index for effect in effects if isinstance(effect, SendTicket)]


def held_state(providers: str, slots: int = 2, **policies: object) -> State:
    """Begin cells of which each letter names the provider; a dot names none."""
    names = tuple(None if letter == "." else letter for letter in providers)
    state = begin(len(names), Policies(breaker=BreakerPolicy(streak=0), **policies), names)  # type: ignore[arg-type]  # the policies' own fields
    return advance(state, on.SlotsChanged(slots))[0]


def out_of_order(index: int, attempt: int, retry_after_s: float | None = None) -> on.AttemptEnded:
    return on.AttemptEnded(index, attempt, fault(FaultKind.PROVIDER, retry_after_s))


def holds(effects: list[Effect]) -> list[StartHold]:
    return [effect for effect in effects if isinstance(effect, StartHold)]
