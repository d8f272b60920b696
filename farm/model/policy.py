"""The rules of a sweep that may change what is run: dispatch, retry, breaker. All of them are in the plan's digest."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, field_serializer

from farm.model.base import Value
from farm.model.fault import Fault, FaultKind
from farm.model.names import Name


class CellOrder(StrEnum):
    """The order of a plan's cells."""

    TASK_MAJOR = "task-major"
    """Task, then trial, then arm as written."""
    ROTATED = "rotated"
    """As task-major, the first arm of each block moving on by one, so that no arm is always first."""
    DIAGONAL = "diagonal"
    """As rotated, but each task's first block starts one arm further on than the one of the task before: the order of
    a trial of a task is the same however many trials there are."""
    SEEDED = "seeded"
    """Blocks at random, and the arms of each at random: the same for the same seed."""
    PACKED = "packed"
    """The cells that are expected to last longest first, whatever their block: the shortest run of a full fleet."""


class DispatchPolicy(Value):
    """How many cells may be outstanding (sent and not finished) at once."""

    per_slot: Annotated[int, Field(gt=0)] = 2
    """Outstanding cells for each live slot."""
    most_outstanding: Annotated[int, Field(gt=0)] | None = None
    """A cap whatever the fleet's size; None for no cap."""
    ahead: Annotated[int, Field(gt=0)] | None = None
    """Strict: no cell is sent so many or more places after the first that is not through; so the breaker overruns by
    fewer than that. None: a straggler holds nobody up.
    """
    most_by_provider: dict[Name, Annotated[int, Field(gt=0)]] = {}
    """A cap for the cells of each provider; sweeps that run at once share it."""
    weight: Annotated[float, Field(gt=0, le=1000)] = 1.0
    """Of the sweep's share of the slots, among sweeps of its priority that run at once."""
    priority: Annotated[int, Field(ge=-100, le=100)] = 0
    """Higher ones are served first; nobody waits for ever."""

    def room(self, slots: int) -> int:
        """Count the cells that may be outstanding with `slots` live slots (one slot is assumed while none is seen)."""
        room = self.per_slot * max(1, slots)
        return room if self.most_outstanding is None else min(room, self.most_outstanding)


class RetryPolicy(Value):
    """Which faults earn a cell another attempt. By default those that cannot depend on the answer."""

    most_attempts: Annotated[int, Field(gt=0)] = 3
    """An attempt that a person or a worker's shutdown ended does not count."""
    outage_attempts: Annotated[int, Field(gt=0)] = 5
    """As many, where the fault is a provider's outage (`provider`)."""
    kinds: frozenset[FaultKind] = frozenset({FaultKind.HOST, FaultKind.LOST, FaultKind.RATE_LIMIT, FaultKind.PROVIDER})
    base_delay_s: Annotated[float, Field(gt=0)] = 1.0
    """Waited outside any slot, doubled with each attempt; a provider's longer retry-after wins. See `wait_s`."""
    outage_delay_s: Annotated[float, Field(gt=0)] = 5.0
    """The same, where the fault is a provider's outage."""

    @field_serializer("kinds", when_used="json")
    def _in_order(self, kinds: frozenset[FaultKind]) -> list[FaultKind]:
        return sorted(kinds)  # a set's own order differs from run to run, and so would the plan's digest

    def earns_another(self, fault: Fault | None, attempt: int) -> bool:
        """Say whether the `attempt`-th attempt that counts (from 1), ended by `fault`, is followed by another."""
        if fault is None or fault.kind not in self.kinds:
            return False
        return attempt < (self.outage_attempts if fault.kind is FaultKind.PROVIDER else self.most_attempts)

    def delay_s(self, fault: Fault, attempt: int) -> float:
        """Give the nominal wait after the `attempt`-th attempt that counts, before it is spread."""
        base_s = self.outage_delay_s if fault.kind is FaultKind.PROVIDER else self.base_delay_s
        return max(base_s * float(2 ** (attempt - 1)), fault.retry_after_s or 0.0)

    def wait_s(self, fault: Fault, attempt: int, share: float) -> float:
        """Spread the wait by `share` (0 to 1), so that cells that failed together don't come back together.

        Full jitter: anything from nothing to the nominal wait. What a provider asked for, and what is published for
        its rate limits, is waited whole, and the jitter comes on top.
        """
        nominal_s = self.delay_s(fault.model_copy(update={"retry_after_s": None}), attempt)
        published_s = nominal_s if fault.kind is FaultKind.RATE_LIMIT else 0.0
        return max(published_s, fault.retry_after_s or 0.0) + share * nominal_s


class BreakerPolicy(Value):
    """When a run of unusable results stops the sweep; counted across task borders in plan order."""

    streak: Annotated[int, Field(ge=0)] = 5
    """0 turns the breaker off."""
