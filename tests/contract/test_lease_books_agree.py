"""Whatever is asked of them, the lease books in memory, on Redis and on Valkey give the same answers."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from farm.adapters.memory import MemoryLeases, MemorySignals
from farm.adapters.redis import connect
from farm.model import StopReason
from farm.ports import LeaseBook, Signals
from farm.testing.clock import FakeClock
from farm.testing.leases import LONG_S, SWEEP, a_lease, a_ticket
from tests.builders.redis_keys import end_all_leases
from tests.services.redis import RedisServer


@dataclass(frozen=True)
class Book:
    """A lease book, its signals, and a way to end every lease at once."""

    leases: LeaseBook
    signals: Signals
    end_all: Callable[[], None]


@dataclass(frozen=True)
class Step:
    """Something that is asked of a book."""

    verb: str
    index: int
    attempt: int
    holder: str

    def take(self, book: Book) -> object:
        ticket = a_ticket(self.index, self.attempt)
        lease = a_lease(ticket, self.holder)
        leases = book.leases
        verbs: dict[str, Callable[[], object]] = {
            "open": lambda: leases.open_sweep(SWEEP),
            "pause": lambda: leases.open_sweep(SWEEP, paused_from=self.index),
            "close": lambda: leases.close_sweep(SWEEP),
            "announce": lambda: leases.announce(ticket),
            "settle": lambda: leases.settle(SWEEP, ticket.cell, ticket.index),
            "claim": lambda: leases.claim(ticket, self.holder, LONG_S),
            "renew": lambda: leases.renew(lease, LONG_S),
            "release": lambda: leases.release(lease),
            "forget": lambda: leases.forget(SWEEP),
            "stop": lambda: book.signals.order_stop(SWEEP, StopReason.CANCEL),
            "withdraw": lambda: book.signals.withdraw_stop(SWEEP),
            "end all": book.end_all,
        }
        return verbs[self.verb]()


often = st.sampled_from(["claim", "claim", "claim", "renew", "renew", "release", "announce", "end all", "open"])
seldom = st.sampled_from(["pause", "close", "settle", "forget", "stop", "withdraw"])
steps = st.builds(
    Step,
    verb=st.one_of(often, often, seldom),
    index=st.integers(0, 1),
    attempt=st.integers(1, 3),
    holder=st.sampled_from(["h/1/1", "h/1/2", "other host/2/1"]),
)
histories = st.lists(steps, min_size=5, max_size=40)


def answers(book: Book, history: list[Step]) -> list[object]:
    book.leases.open_sweep(SWEEP)
    return [(step.take(book), book.leases.live(SWEEP)) for step in history]


@pytest.mark.parametrize("name", ["redis_server", "valkey_server"])
@given(history=histories)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_history_has_the_same_answers(name: str, request: pytest.FixtureRequest, history: list[Step]) -> None:
    server: RedisServer = request.getfixturevalue(name)
    server.flush()
    clock, signals = FakeClock(), MemorySignals()
    memory = Book(MemoryLeases(clock, signals), signals, lambda: clock.advance(LONG_S + 1))
    with closing(connect(server.url)) as farm:
        real = Book(farm.leases, farm.signals, lambda: end_all_leases(server))
        assert answers(real, history) == answers(memory, history)
