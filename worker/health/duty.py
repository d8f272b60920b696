"""Whether this worker takes tickets now, and from which queues: its main process looks every second."""

from dataclasses import dataclass

from farm.model import ANYWHERE, lacking, queue_of
from farm.ports import DrainOrders, Queues
from worker.health.drain import Drain
from worker.health.fitness import Fitness, Rest


@dataclass(frozen=True, slots=True)
class FarmWords:
    """What the farm says to hosts."""

    orders: DrainOrders
    queues: Queues


class Duty:
    """Says what the slots may do, and why not more."""

    def __init__(self, host: str, words: FarmWords, fitness: Fitness, drain: Drain) -> None:
        self._host = host
        self._words = words
        self._fitness = fitness
        self._drain = drain
        self._asked: tuple[frozenset[str], ...] = ()
        self._let_rest()

    @property
    def draining(self) -> str | None:
        """Say who drained this host; None: nobody."""
        order = self._drain.order
        if order is None or not self._drain.is_drained:
            return None
        return f"drained by {order.by} at {order.at:%Y-%m-%d %H:%M} UTC"

    @property
    def order(self) -> str | None:
        """Name the last order that was obeyed."""
        return None if self._drain.order is None else self._drain.order.id

    def look(self) -> bool:
        """Hear what the farm says, and say whether something changed here. May raise TransientError."""
        is_news = self._drain.obey(self._words.orders.last(self._host))
        self._let_rest()
        self._asked = self._words.queues.known()
        return is_news

    def queues(self, offered: frozenset[str]) -> frozenset[str]:
        """Name the queues to take from where `offered` is found; none while nothing may be taken."""
        if self._fitness.problem is not None or self._fitness.rest is not Rest.NONE:
            return frozenset()
        return frozenset({ANYWHERE, *(queue_of(needed) for needed in self._asked if not lacking(needed, offered))})

    def _let_rest(self) -> None:
        if self._drain.stops_cells:
            self._fitness.set_rest(Rest.STOPS_CELLS)
        else:
            self._fitness.set_rest(Rest.TAKES_NOTHING if self._drain.is_drained else Rest.NONE)
