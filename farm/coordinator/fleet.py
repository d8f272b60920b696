"""What the coordinator knows of the hosts, and what a sweep waits for."""

from collections.abc import Sequence
from dataclasses import dataclass

from farm.coordinator.effects import Deferral
from farm.coordinator.queues import CellQueues
from farm.coordinator.state import Stage, State
from farm.model import Host, Plan, unserved

_OFFERS_BEFORE_A_WORD = 2
"""One repeated ticket is a lost message; more are a worker that can't write its claim."""
_LACKING = {
    Deferral.WINDOW: "no time window leaves them the time that they need",
    Deferral.BUDGET: "the budget has no room for them",
}


@dataclass(frozen=True, slots=True)
class Fleet:
    """The hosts as they last beat."""

    slots: int = 0
    """Of those that take from one of the sweep's queues now."""
    idle: frozenset[str] = frozenset()
    """The queues that a host takes from which has a slot free."""
    closed: frozenset[int] = frozenset()
    """The queues, by number, from which no host takes."""
    unserved: str | None = None
    problem: str | None = None
    hindrance: str | None = None

    @classmethod
    def of(cls, hosts: Sequence[Host], plan: Plan, queues: CellQueues) -> "Fleet":
        """Sum up the live hosts."""
        return cls(
            slots=sum(host.slots for host in queues.able(hosts) if host.left_s != 0),
            idle=queues.served(host for host in hosts if host.slots > host.busy and host.left_s != 0),
            closed=queues.closed(host for host in hosts if host.slots > 0 and host.left_s != 0),
            unserved=next(unserved(plan, hosts), None),
            problem=next((f"{host.id}: {host.problem}" for host in hosts if host.problem is not None), None),
            hindrance=next((f"{host.id}: {host.hindrance}" for host in hosts if host.hindrance is not None), None),
        )


def waits_for(state: State, fleet: Fleet, offers: int) -> str | None:
    """Say what the sweep waits for; None: it runs. `offers` counts those of the ticket that was offered most."""
    if state.stage in {Stage.CLOSING, Stage.DRAINING}:
        return "the breaker tripped; running cells finish"
    if state.paused_from is not None:
        return f"the last {state.breaker.streak} results are unusable; earlier cells decide whether to go on"
    if fleet.slots == 0 and state.stage is not Stage.OVER:
        return fleet.unserved or f"no host works: {fleet.hindrance or 'start a worker'}"
    held_up = fleet.unserved or _put_off(state) or _on_hold(state) or _shared(state)
    if held_up is not None:
        return held_up
    if offers < _OFFERS_BEFORE_A_WORD:
        return fleet.problem
    return f"a ticket was offered {offers} times and no worker could begin it: see the workers' logs"


def _shared(state: State) -> str | None:
    if state.quota.slots != 0 or state.window.outstanding or not state.demand:
        return None
    return "the slots are other sweeps' for now: by priority and weight, and nobody waits for ever"


def _put_off(state: State) -> str | None:
    aside = state.ledger.put_aside
    why = ", and ".join(_LACKING[one] for one in sorted(state.deferred))
    return f"deferred cells: {aside}; {why}" if aside else None


def _on_hold(state: State) -> str | None:
    provider = min(state.holds.on, default=None)
    if provider is None:
        return None
    return f"provider {provider} does not answer: its other cells wait for {state.holds.known[provider].delay_s:g} s"
