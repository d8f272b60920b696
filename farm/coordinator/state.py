"""What the machine knows: everything that its next decision depends on."""

from dataclasses import dataclass, field
from enum import Enum, auto

from farm.coordinator.breaker import Breaker
from farm.coordinator.budget import Budget
from farm.coordinator.effects import Deferral, Effect
from farm.coordinator.holds import Holds
from farm.coordinator.hours import Hours
from farm.coordinator.lanes import Lanes
from farm.coordinator.ledger import Ledger
from farm.coordinator.share import Quota
from farm.coordinator.window import Window
from farm.model import ActionClass, BreakerPolicy, CloseReason, DispatchPolicy, Plan, RetryPolicy


@dataclass(frozen=True, slots=True)
class Policies:
    """The plan's rules that the machine follows."""

    dispatch: DispatchPolicy = field(default_factory=DispatchPolicy)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    breaker: BreakerPolicy = field(default_factory=BreakerPolicy)
    budget: Budget = field(default_factory=Budget)
    """As it is when nothing is spent."""
    salt: str = ""
    """What the jitter of waits is drawn from: the plan's digest, so that a replay draws the same."""
    once: frozenset[int] = frozenset()
    """Cells that no fault earns another attempt: what was done in the first may reach beyond the workspace."""

    @classmethod
    def of(cls, plan: Plan, budget: Budget) -> "Policies":
        external = {task.id for task in plan.tasks if task.action is ActionClass.EXTERNAL}
        once = (index for index, cell in enumerate(plan.cells) if cell.task in external) if external else ()
        return cls(
            dispatch=plan.dispatch,
            retry=plan.retry,
            breaker=plan.breaker,
            budget=budget,
            salt=plan.digest,
            once=frozenset(once),
        )

    def retry_of(self, index: int) -> RetryPolicy:
        """Give the rule for a cell's faults."""
        return self.retry.model_copy(update={"kinds": frozenset()}) if index in self.once else self.retry


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
    hours: Hours = field(default_factory=Hours)
    budget: Budget = field(default_factory=Budget)
    quota: Quota = field(default_factory=Quota)
    lanes: Lanes = field(default_factory=Lanes)
    reused: frozenset[int] = frozenset()
    """Cells that are taken over from earlier sweeps when dispatch reaches them: they take no slot."""
    untouched: int = 0
    """The first cell that was never in the window, but for those of closed lanes."""
    slots: int | None = None
    """None until the fleet is known: nothing is sent before."""
    deferred: frozenset[Deferral] = frozenset()
    """Why cells were put aside."""
    stage: Stage = Stage.DISPATCHING
    reason: CloseReason | None = None
    """Why it stops, from the moment that this is decided."""

    @property
    def demand(self) -> int:
        """Count the cells that are under way or could be."""
        if self.paused_from is not None:
            return self.window.outstanding
        through = self.ledger.fold + self.ledger.through.bit_count()
        return self.cells - through - self.window.waiting

    def pays(self, index: int) -> bool:
        """Say whether the cell uses anything that is in the budget: whether it has a provider."""
        return self.budget.is_bounded and self.holds.provider(index) is not None

    @property
    def paused_from(self) -> int | None:
        """The first cell that the breaker's pause holds back; None while nothing is paused."""
        return None if self.breaker.suspicion is None else self.breaker.suspicion.last + 1


Step = tuple[State, tuple[Effect, ...]]


def begin(
    cells: int,
    policies: Policies,
    providers: tuple[str | None, ...] = (),
    elsewhere: tuple[int, ...] = (),
    needs_s: tuple[float, ...] = (),
) -> State:
    """Start with `cells` cells in plan order, none of them sent.

    `providers` names each cell's provider, if any has one; `needs_s` is the time that each cell needs. The cells of
    `elsewhere` are another coordinator's: as if the plan did not hold them.
    """
    return State(
        cells=cells,
        policies=policies,
        breaker=Breaker(streak=policies.breaker.streak),
        ledger=Ledger().without(elsewhere) if elsewhere else Ledger(),
        holds=Holds(providers),
        hours=Hours(needs_s),
        budget=policies.budget,
    )
