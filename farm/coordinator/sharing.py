"""One coordinator's dealings with the others on its Redis: it says what it could use, and takes its share."""

from collections.abc import Sequence

from farm.coordinator.queues import CellQueues
from farm.coordinator.round import room
from farm.coordinator.share import Quota, quota
from farm.coordinator.state import State
from farm.model import Host, Plan, ShareClaim
from farm.ports import Shares

_TTL_S = 10.0
"""Of a claim that is repeated about every second: what a dead coordinator claimed goes to the others."""


class Sharing:
    """Remembers for how long the sweep has waited; times are monotonic seconds."""

    def __init__(self, name: str, plan: Plan, queues: CellQueues, shares: Shares) -> None:
        self._name = name
        self._needs = tuple(tuple(sorted(needed)) for needed in queues.needed)
        self._policy = plan.dispatch
        self._providers = tuple(sorted({arm.provider for arm in plan.arms if arm.provider is not None}))
        self._shares = shares
        self._waits_since_s: float | None = None

    def take(self, state: State, hosts: Sequence[Host], slots: int, now_s: float) -> Quota:
        """Say what the sweep could use, and work out what it may take. May raise TransientError."""
        claim = self._claim(state, slots, now_s)
        self._shares.claim(claim, _TTL_S)
        return quota(claim, self._shares.claims(), hosts, self._policy.most_by_provider)

    def end(self) -> None:
        """Leave the fleet to the others. May raise TransientError."""
        self._shares.withdraw(self._name)

    def _claim(self, state: State, slots: int, now_s: float) -> ShareClaim:
        outstanding = state.window.outstanding
        # with places that it could not fill (a hold, a cap, a budget) it wants one more, to see whether it can again
        wanted = outstanding + 1 if state.slots and room(state, state.slots) > outstanding else state.demand
        demand = min(wanted, state.demand, slots, self._policy.most_outstanding or slots)
        if demand == 0 or state.window.outstanding > 0:
            self._waits_since_s = None
        elif self._waits_since_s is None:
            self._waits_since_s = now_s
        return ShareClaim(
            sweep=self._name,
            weight=self._policy.weight,
            priority=self._policy.priority,
            demand=demand,
            waited_s=0.0 if self._waits_since_s is None else now_s - self._waits_since_s,
            needs=self._needs,
            providers=self._providers,
            budget=state.budget.words,
        )
