"""Redis, the store, and the ways to them that the real coordinator and finalizer take."""

from collections.abc import Callable
from typing import Any

from farm.adapters.memory import MemoryLeadership, MemoryLeases, MemoryQueues, MemoryShares, MemorySignals, MemoryStore
from farm.model import CellEvent, Host, SweepId, Ticket
from farm.testing.clock import START
from tests.builders.protocol.world import Process, Service, SkewedClock, World


class Redis:
    """All that a wipe takes: tickets on their way, leases, orders, hints, the lead, what is known of hosts."""

    def __init__(self, world: World) -> None:
        clock = SkewedClock(world, Process("redis"), 0.0, 1.0)
        self.signals = MemorySignals()
        self.leases = MemoryLeases(clock, self.signals)
        self.leadership = MemoryLeadership(clock)
        self.queues = MemoryQueues(clock)
        self.shares = MemoryShares(clock)
        self.tickets: list[Ticket] = []
        self.hints: list[CellEvent] = []
        self.knows_hosts_from_s = world.now_s + 1.0


def hosts_of(workers: int) -> tuple[Host, ...]:
    """Make the hosts of idle workers, one slot each."""
    return tuple(
        Host(id=f"host-{number}/1", slots=1, busy=0, version="1", sandbox="bubblewrap", seen_at=START)
        for number in range(workers)
    )


class Farm:
    """What the processes share."""

    def __init__(self, world: World, sweep: SweepId, store: MemoryStore, workers: int) -> None:
        self.world = world
        self.sweep = sweep
        self.store = store
        self.redis = Redis(world)
        self.hosts = hosts_of(workers)
        self.busy: set[int] = set()
        """The numbers of workers with a cell."""
        self.dead: set[int] = set()
        self.tickets_came: Callable[[], None] = lambda: None
        """What is called when tickets wait."""

    def wipe(self) -> None:
        """Let Redis lose everything."""
        self.redis = Redis(self.world)

    def send(self, ticket: Ticket) -> None:
        """Put a ticket into the queue."""
        self.redis.tickets.append(ticket)
        self.tickets_came()

    def live(self) -> tuple[Host, ...]:
        """List the hosts that are alive, those with a cell as busy."""
        if self.world.now_s < self.redis.knows_hosts_from_s:
            return ()
        return tuple(
            host.model_copy(update={"busy": 1}) if number in self.busy else host
            for number, host in enumerate(self.hosts)
            if number not in self.dead
        )


class Port:
    """Every call of a port goes over the network of the world."""

    def __init__(self, farm: Farm, process: Process, service: Service, find: Callable[[], Any]) -> None:
        self._way = (farm, process, service, find)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        farm, process, service, find = self._way

        def call(*arguments: Any) -> Any:
            return farm.world.ask(process, service, lambda: getattr(find(), name)(*arguments))

        setattr(self, name, call)
        return call


class EventsPort:
    """Hints to a coordinator that waits for them."""

    def __init__(self, farm: Farm, process: Process, hear: Callable[[CellEvent], None] = lambda _: None) -> None:
        self._farm = farm
        self._process = process
        self._hear = hear

    def receive(self, _sweep: SweepId, timeout_s: float) -> tuple[CellEvent, ...]:
        world = self._farm.world
        if timeout_s and not self._farm.redis.hints:
            world.pass_until(world.now_s + timeout_s, lambda: bool(self._farm.redis.hints))

        def take() -> tuple[CellEvent, ...]:
            taken, self._farm.redis.hints = tuple(self._farm.redis.hints), []
            return taken

        answer: Any = world.ask(self._process, Service.REDIS, take)
        for event in answer:
            self._hear(event)
        return answer
