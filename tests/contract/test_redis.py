"""Redis and Valkey on the same suites."""

import base64
import json
import time
from collections.abc import Callable, Iterator

import pytest

from farm.adapters.celery import CeleryDispatcher, make_app
from farm.adapters.redis import RedisFarm, connect
from farm.model import CellEvent, EventKind, SweepId, Ticket
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
    an_order,
)
from farm.testing.leases import LONG_S, SWEEP, LeaseSuite, a_lease, a_ticket
from tests.services.redis import RedisServer


@pytest.fixture(params=["redis_server", "valkey_server"])
def server(request: pytest.FixtureRequest) -> RedisServer:
    server: RedisServer = request.getfixturevalue(request.param)
    server.flush()
    return server


@pytest.fixture
def farm(server: RedisServer) -> Iterator[RedisFarm]:
    farm = connect(server.url)
    yield farm
    farm.close()


class TestRedisLeases(LeaseSuite):
    @pytest.fixture
    def leases(self, farm: RedisFarm):
        return farm.leases

    @pytest.fixture
    def signals(self, farm: RedisFarm):
        return farm.signals

    @pytest.fixture
    def let_pass(self):
        return time.sleep

    @pytest.fixture
    def wipe(self, server: RedisServer):
        return server.flush


class TestRedisSignals(SignalSuite):
    @pytest.fixture
    def signals(self, farm: RedisFarm):
        return farm.signals


class TestRedisLiveNotes(LiveNoteSuite):
    @pytest.fixture
    def live(self, farm: RedisFarm):
        return farm.live


class TestRedisHosts(HostSuite):
    @pytest.fixture
    def hosts(self, farm: RedisFarm):
        return farm.hosts

    @pytest.fixture
    def let_pass(self):
        return time.sleep


class TestRedisEvents(EventSuite):
    @pytest.fixture
    def events(self, farm: RedisFarm):
        return farm.events


def test_what_another_version_says_is_left_alone(farm: RedisFarm, server: RedisServer) -> None:
    known = CellEvent(kind=EventKind.FINISHED, index=1, attempt=1)
    with server.client() as client:
        client.rpush("farm:events:s", json.dumps({"kind": "rested"}), known.model_dump_json())
        client.hset("farm:hosts:facts", "newer/1", json.dumps({"id": "newer/1", "colour": "red"}))
        client.zadd("farm:hosts:deadlines", {"newer/1": 1e15})
    assert farm.events.receive(SweepId("s"), 1.0) == (known,)
    assert farm.hosts.live() == ()


class TestRedisLeadership(LeadershipSuite):
    @pytest.fixture
    def leadership(self, farm: RedisFarm):
        return farm.leadership

    @pytest.fixture
    def let_pass(self):
        return time.sleep


class TestRedisDrainOrders(DrainOrderSuite):
    @pytest.fixture
    def orders(self, farm: RedisFarm):
        return farm.orders


class TestRedisQueues(QueueSuite):
    @pytest.fixture
    def queues(self, farm: RedisFarm):
        return farm.queues

    @pytest.fixture
    def let_pass(self):
        return time.sleep


class TestRedisShares(ShareSuite):
    @pytest.fixture
    def shares(self, farm: RedisFarm):
        return farm.shares

    @pytest.fixture
    def let_pass(self):
        return time.sleep


class TestCeleryDispatcher(DispatcherSuite):
    @pytest.fixture
    def dispatcher(self, server: RedisServer) -> Iterator[CeleryDispatcher]:
        app = make_app(server.url)
        yield CeleryDispatcher(app)
        app.close()

    @pytest.fixture
    def delivered(self, server: RedisServer) -> Callable[[], tuple[Ticket, ...]]:
        def delivered() -> tuple[Ticket, ...]:
            with server.client() as client:
                messages = client.lpop("farm:celery:cells", 1000) or []
            return tuple(_ticket(message) for message in reversed(messages))

        return delivered


def _ticket(message: str) -> Ticket:
    (ticket,), _, _ = json.loads(base64.b64decode(json.loads(message)["body"]))
    return Ticket.model_validate(ticket)


def test_what_the_lease_book_keeps_does_not_grow_with_the_sweep(farm: RedisFarm, server: RedisServer) -> None:
    leases = farm.leases
    leases.open_sweep(SWEEP)
    for index in range(300):
        ticket = a_ticket(index)
        leases.announce(ticket)
        leases.claim(ticket, f"h/1/{index}", LONG_S)
        lease = a_lease(ticket, f"h/1/{index}")
        if index % 2:
            leases.release(lease)
            leases.settle(SWEEP, ticket.cell, index)
        else:
            leases.settle(SWEEP, ticket.cell, index)
            leases.release(lease)
    with server.client() as client:
        kept = sum(client.memory_usage(key) or 0 for key in client.scan_iter("farm:leases:*"))
    assert kept < 1000


def test_orders_and_queues_of_another_version_are_left_alone(server: RedisServer, farm: RedisFarm) -> None:
    farm.queues.open(frozenset({"a"}), 60)
    farm.orders.give("h", an_order(1))
    with server.client() as client:
        client.hset("farm:queues:needs", "cells-other", '{"needs": ["b"], "more": 1}')
        client.hset("farm:queues:needs", "cells-odd", "[")
        client.hset("farm:hosts:orders", "other", '{"kind": "reboot"}')
    assert farm.queues.known() == (frozenset({"a"}),)
    assert farm.orders.last("other") is None
    assert farm.orders.last("h") == an_order(1)
