"""Whether this worker takes tickets now, and from which queues: its main process looks every second."""

from collections.abc import Callable
from dataclasses import dataclass

from farm.model import ANYWHERE, lacking, queue_of
from farm.ports import DrainOrders, Queues
from worker.health.drain import Drain
from worker.health.fitness import Fitness, Rest
from worker.health.suspension import Suspension


@dataclass(frozen=True, slots=True)
class FarmWords:
    """What the farm says to hosts."""

    orders: DrainOrders
    queues: Queues


@dataclass(frozen=True, slots=True)
class OwnState:
    """What this host knows of itself."""

    drain: Drain
    suspension: Suspension
    shortage: Callable[[], str | None]
    """Say what of its disk is short."""


class Duty:
    """Says what the slots may do, and why not more."""

    def __init__(self, host: str, words: FarmWords, fitness: Fitness, own: OwnState) -> None:
        self._host = host
        self._words = words
        self._fitness = fitness
        self._own = own
        self._drain = own.drain
        self._shortage: str | None = None
        self._asked: tuple[frozenset[str], ...] = ()
        self._let_rest()

    @property
    def problem(self) -> str | None:
        """Why nothing is taken until somebody has seen to this host."""
        return self._fitness.problem or self._shortage

    @property
    def draining(self) -> str | None:
        """Who drained this host, or why it did so itself; None: it is not drained."""
        order = self._drain.order
        if order is None or not self._drain.is_drained:
            return self._own.suspension.reason
        return f"drained by {order.by} at {order.at:%Y-%m-%d %H:%M} UTC"

    @property
    def order(self) -> str | None:
        """Name the last order that was obeyed."""
        return None if self._drain.order is None else self._drain.order.id

    def look(self) -> bool:
        """See to this host, hear what the farm says, and say whether something changed. May raise TransientError."""
        before = (self.problem, self.draining, self.order)
        self._shortage = self._own.shortage()
        self._own.suspension.look()
        try:
            self._hear()
        finally:
            self._let_rest()
        return before != (self.problem, self.draining, self.order)

    def queues(self, offered: frozenset[str]) -> frozenset[str]:
        """Name the queues to take from where `offered` is found; none while nothing may be taken."""
        if self._fitness.problem is not None or self._fitness.rest is not Rest.NONE:
            return frozenset()
        return frozenset({ANYWHERE, *(queue_of(needed) for needed in self._asked if not lacking(needed, offered))})

    def _hear(self) -> None:
        if self._drain.obey(self._words.orders.last(self._host)) and not self._drain.is_drained:
            self._own.suspension.end()
        self._asked = self._words.queues.known()

    def _let_rest(self) -> None:
        if self._drain.stops_cells:
            self._fitness.set_rest(Rest.STOPS_CELLS)
        else:
            rests = self._shortage is not None or self.draining is not None
            self._fitness.set_rest(Rest.TAKES_NOTHING if rests else Rest.NONE)
