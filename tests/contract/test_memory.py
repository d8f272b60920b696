from collections.abc import Callable

import pytest

from farm.adapters.memory import (
    MemoryDispatcher,
    MemoryDrainOrders,
    MemoryEvents,
    MemoryHosts,
    MemoryLeadership,
    MemoryLeases,
    MemoryLiveNotes,
    MemoryQueues,
    MemoryShares,
    MemorySignals,
    MemoryStore,
)
from farm.model import Digest, Ticket
from farm.testing.clock import FakeClock
from farm.testing.coordination import (
    DispatcherSuite,
    DrainOrderSuite,
    EventSuite,
    HostSuite,
    LeadershipSuite,
    LiveNoteSuite,
    QueueSuite,
    ShareSuite,
    SignalSuite,
)
from farm.testing.leases import OTHER, SWEEP, LeaseSuite
from farm.testing.stores import StoreSuite


@pytest.fixture
def clock():
    return FakeClock()


class TestMemoryStore(StoreSuite):
    @pytest.fixture
    def store(self):
        return MemoryStore()

    @pytest.fixture
    def damage(self, store: MemoryStore) -> Callable[[Digest, bytes], None]:
        return store.blobs.bodies.__setitem__


class TestMemoryLeases(LeaseSuite):
    @pytest.fixture
    def signals(self):
        return MemorySignals()

    @pytest.fixture
    def leases(self, clock: FakeClock, signals: MemorySignals):
        return MemoryLeases(clock, signals)

    @pytest.fixture
    def let_pass(self, clock: FakeClock):
        return clock.advance

    @pytest.fixture
    def wipe(self, leases: MemoryLeases):
        def wipe() -> None:
            leases.forget(SWEEP)
            leases.forget(OTHER)

        return wipe


class TestMemorySignals(SignalSuite):
    @pytest.fixture
    def signals(self):
        return MemorySignals()


class TestMemoryHosts(HostSuite):
    @pytest.fixture
    def let_pass(self, clock: FakeClock):
        return clock.advance

    @pytest.fixture
    def hosts(self, clock: FakeClock):
        return MemoryHosts(clock)


class TestMemoryEvents(EventSuite):
    @pytest.fixture
    def events(self):
        return MemoryEvents()


class TestMemoryLeadership(LeadershipSuite):
    @pytest.fixture
    def let_pass(self, clock: FakeClock):
        return clock.advance

    @pytest.fixture
    def leadership(self, clock: FakeClock):
        return MemoryLeadership(clock)


class TestMemoryDrainOrders(DrainOrderSuite):
    @pytest.fixture
    def orders(self):
        return MemoryDrainOrders()


class TestMemoryQueues(QueueSuite):
    @pytest.fixture
    def let_pass(self, clock: FakeClock):
        return clock.advance

    @pytest.fixture
    def queues(self, clock: FakeClock):
        return MemoryQueues(clock)


class TestMemoryShares(ShareSuite):
    @pytest.fixture
    def let_pass(self, clock: FakeClock):
        return clock.advance

    @pytest.fixture
    def shares(self, clock: FakeClock):
        return MemoryShares(clock)


class TestMemoryDispatcher(DispatcherSuite):
    @pytest.fixture
    def dispatcher(self):
        return MemoryDispatcher()

    @pytest.fixture
    def delivered(self, dispatcher: MemoryDispatcher) -> Callable[[], tuple[Ticket, ...]]:
        return dispatcher.take


def test_events_with_a_clock_wait_on_it(clock: FakeClock) -> None:
    assert MemoryEvents(clock).receive(SWEEP, 30.0) == ()
    assert clock.monotonic() == 30.0


class TestMemoryLiveNotes(LiveNoteSuite):
    @pytest.fixture
    def live(self):
        return MemoryLiveNotes()
