# ruff: noqa: S101, PLR2004 (a suite of tests, run by pytest in somebody's test folder)
"""What every implementation of signals, hosts, events, leadership and dispatch must do."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import pytest

from farm.model import (
    CellEvent,
    CellId,
    DrainKind,
    DrainOrder,
    EventKind,
    Host,
    LiveNote,
    ShareClaim,
    StopReason,
    SweepId,
    Ticket,
)
from farm.ports import Dispatcher, DrainOrders, Events, HostRegistry, Leadership, LiveNotes, Queues, Shares, Signals
from farm.testing.hooks import not_given
from farm.testing.leases import LONG_S, OTHER, SHORT_S, SWEEP, a_ticket
from farm.testing.racing import at_once


class SignalSuite:
    """Any signals."""

    @pytest.fixture
    def signals(self) -> Signals:
        """Give signals without an order."""
        not_given("signals")

    def test_an_order_stands_until_it_is_withdrawn(self, signals: Signals) -> None:
        assert signals.stop_reason(SWEEP) is None
        signals.order_stop(SWEEP, StopReason.DEADLINE)
        assert signals.stop_reason(SWEEP) is StopReason.DEADLINE
        assert signals.stop_reason(OTHER) is None
        signals.order_stop(SWEEP, StopReason.CANCEL)
        assert signals.stop_reason(SWEEP) is StopReason.CANCEL
        signals.withdraw_stop(SWEEP)
        signals.withdraw_stop(SWEEP)
        assert signals.stop_reason(SWEEP) is None


class LiveNoteSuite:
    """Any live notes."""

    @pytest.fixture
    def live(self) -> LiveNotes:
        """Give a place without notes."""
        not_given("live")

    def test_a_cells_last_note_is_kept_until_it_is_dropped(self, live: LiveNotes) -> None:
        first, later, other = a_note("t.a.1", 1), a_note("t.a.1", 2), a_note("t.b.1", 3)
        assert live.all(SWEEP) == ()
        live.tell(SWEEP, first)
        live.tell(SWEEP, other)
        live.tell(SWEEP, later)
        assert live.all(SWEEP) == (later, other)
        assert live.all(OTHER) == ()
        live.drop(SWEEP, later.cell)
        live.drop(SWEEP, later.cell)
        assert live.all(SWEEP) == (other,)


def a_note(cell: str, turns: int) -> LiveNote:
    """Make a note."""
    started_at = datetime(2026, 1, 1, tzinfo=UTC)
    where = {"cell": CellId(cell), "attempt": 1, "host": "host-1", "session": "work", "started_at": started_at}
    return LiveNote.model_validate(where | {"turns": turns, "preview": "\u00e9"})


def a_host(name: str, busy: int = 0) -> Host:
    """Make a host."""
    seen_at = datetime(2026, 1, 1, tzinfo=UTC)
    return Host(id=name, slots=8, busy=busy, version="1.0", sandbox="bubblewrap", seen_at=seen_at)


class HostSuite:
    """Any host registry."""

    @pytest.fixture
    def hosts(self) -> HostRegistry:
        """Give a registry without hosts."""
        not_given("hosts")

    @pytest.fixture
    def let_pass(self) -> Callable[[float], None]:
        """Give a way to let seconds pass on the registry's clock."""
        not_given("let_pass")

    def test_hosts_are_listed_by_id_with_their_last_facts(self, hosts: HostRegistry) -> None:
        assert hosts.live() == ()
        hosts.beat(a_host("b"), LONG_S)
        hosts.beat(a_host("a"), LONG_S)
        hosts.beat(a_host("b", busy=3), LONG_S)
        assert hosts.live() == (a_host("a"), a_host("b", busy=3))

    def test_a_silent_host_is_forgotten(self, hosts: HostRegistry, let_pass: Callable[[float], None]) -> None:
        hosts.beat(a_host("a"), SHORT_S)
        hosts.beat(a_host("b"), LONG_S)
        let_pass(SHORT_S * 1.5)
        assert hosts.live() == (a_host("b"),)
        hosts.beat(a_host("a"), LONG_S)
        assert hosts.live() == (a_host("a"), a_host("b"))


def an_order(number: int, kind: DrainKind = DrainKind.DRAIN) -> DrainOrder:
    """Make an order to a host."""
    return DrainOrder(id=f"order-{number}", kind=kind, by="\u00e9@desk", at=datetime(2026, 1, 1, tzinfo=UTC))


class DrainOrderSuite:
    """Any drain orders."""

    @pytest.fixture
    def orders(self) -> DrainOrders:
        """Give a place without orders."""
        not_given("orders")

    def test_a_hosts_last_order_stands(self, orders: DrainOrders) -> None:
        assert orders.last("a") is None
        orders.give("a", an_order(1))
        orders.give("b", an_order(2, DrainKind.NOW))
        orders.give("a", an_order(3, DrainKind.UNDRAIN))
        assert orders.last("a") == an_order(3, DrainKind.UNDRAIN)
        assert orders.last("b") == an_order(2, DrainKind.NOW)


def an_event(index: int) -> CellEvent:
    """Make a hint."""
    return CellEvent(kind=EventKind.FINISHED, index=index, attempt=1)


class EventSuite:
    """Any events."""

    @pytest.fixture
    def events(self) -> Events:
        """Give events without a hint."""
        not_given("events")

    def test_hints_come_out_in_order_and_once(self, events: Events) -> None:
        for index in range(5):
            events.publish(SWEEP, an_event(index))
        events.publish(OTHER, an_event(9))
        assert events.receive(SWEEP, 1.0) == tuple(an_event(index) for index in range(5))
        assert events.receive(SWEEP, 0.0) == ()
        assert events.receive(OTHER, 0.0) == (an_event(9),)

    def test_waiting_for_nothing_ends_in_time(self, events: Events) -> None:
        started = time.monotonic()
        assert events.receive(SWEEP, 0.2) == ()
        assert 0.15 < time.monotonic() - started < 5.0

    def test_a_hint_wakes_who_waits(self, events: Events) -> None:
        started = time.monotonic()
        later = threading.Timer(0.1, partial(events.publish, SWEEP, an_event(1)))
        later.start()
        assert events.receive(SWEEP, 10.0) == (an_event(1),)
        assert time.monotonic() - started < 5.0
        later.join()


class LeadershipSuite:
    """Any leadership."""

    @pytest.fixture
    def leadership(self) -> Leadership:
        """Give leadership that nobody has."""
        not_given("leadership")

    @pytest.fixture
    def let_pass(self) -> Callable[[float], None]:
        """Give a way to let seconds pass on the leadership's clock."""
        not_given("let_pass")

    def test_one_leads_and_keeps_leading(self, leadership: Leadership) -> None:
        assert leadership.lead(SWEEP, "a", LONG_S)
        assert not leadership.lead(SWEEP, "b", LONG_S)
        assert leadership.lead(SWEEP, "a", LONG_S)
        assert leadership.lead(OTHER, "b", LONG_S)

    def test_only_the_leader_can_resign(self, leadership: Leadership) -> None:
        leadership.lead(SWEEP, "a", LONG_S)
        leadership.resign(SWEEP, "b")
        assert not leadership.lead(SWEEP, "b", LONG_S)
        leadership.resign(SWEEP, "a")
        leadership.resign(SWEEP, "a")
        assert leadership.lead(SWEEP, "b", LONG_S)

    def test_a_lead_ends_by_itself(self, leadership: Leadership, let_pass: Callable[[float], None]) -> None:
        leadership.lead(SWEEP, "a", SHORT_S)
        let_pass(SHORT_S * 1.5)
        assert leadership.lead(SWEEP, "b", LONG_S)
        assert not leadership.lead(SWEEP, "a", LONG_S)

    def test_of_many_at_once_one_leads(self, leadership: Leadership) -> None:
        for turn in range(10):
            sweep = SweepId(f"race-{turn:012d}.1")
            won = at_once([partial(leadership.lead, sweep, f"holder-{number}", LONG_S) for number in range(12)])
            assert won.count(True) == 1


class QueueSuite:
    """Any account of the queues."""

    @pytest.fixture
    def queues(self) -> Queues:
        """Give an account that knows no queue."""
        not_given("queues")

    @pytest.fixture
    def let_pass(self) -> Callable[[float], None]:
        """Give a way to let seconds pass on the account's clock."""
        not_given("let_pass")

    def test_queues_are_known_by_what_their_tickets_need(self, queues: Queues) -> None:
        assert queues.known() == ()
        queues.open(frozenset({"sandbox bubblewrap", "provider acm\u00e9"}), LONG_S)
        queues.open(frozenset({"sandbox docker"}), LONG_S)
        queues.open(frozenset({"sandbox docker"}), LONG_S)
        assert set(queues.known()) == {
            frozenset({"sandbox docker"}),
            frozenset({"provider acm\u00e9", "sandbox bubblewrap"}),
        }
        assert len(queues.known()) == 2

    def test_a_queue_that_nobody_repeats_is_forgotten(self, queues: Queues, let_pass: Callable[[float], None]) -> None:
        queues.open(frozenset({"a"}), SHORT_S)
        queues.open(frozenset({"b"}), SHORT_S)
        queues.open(frozenset({"b"}), LONG_S)
        let_pass(SHORT_S * 1.5)
        assert queues.known() == (frozenset({"b"}),)


class ShareSuite:
    """Any place for claims of a share."""

    @pytest.fixture
    def shares(self) -> Shares:
        """Give shares that nobody claims."""
        not_given("shares")

    @pytest.fixture
    def let_pass(self) -> Callable[[float], None]:
        """Give a way to let seconds pass on the shares' clock."""
        not_given("let_pass")

    def test_the_last_claim_of_each_sweep_stands(self, shares: Shares) -> None:
        shares.claim(a_claim("b", demand=1), LONG_S)
        shares.claim(a_claim("a", demand=2), LONG_S)
        shares.claim(a_claim("b", demand=3), LONG_S)
        assert shares.claims() == (a_claim("a", demand=2), a_claim("b", demand=3))

    def test_a_claim_is_forgotten_when_it_is_withdrawn_and_when_nobody_repeats_it(
        self, shares: Shares, let_pass: Callable[[float], None]
    ) -> None:
        shares.claim(a_claim("a"), SHORT_S)
        shares.claim(a_claim("b"), LONG_S)
        shares.claim(a_claim("c"), LONG_S)
        shares.withdraw("c")
        shares.withdraw("unknown")
        let_pass(SHORT_S * 1.5)
        assert shares.claims() == (a_claim("b"),)


def a_claim(sweep: str, demand: int = 1) -> ShareClaim:
    """Make a claim."""
    return ShareClaim(sweep=sweep, weight=2.5, priority=-1, demand=demand, waited_s=0.5, providers=("acme",))


class DispatcherSuite:
    """Any dispatcher."""

    @pytest.fixture
    def dispatcher(self) -> Dispatcher:
        """Give a dispatcher whose pipe is empty."""
        not_given("dispatcher")

    @pytest.fixture
    def delivered(self) -> Callable[[], tuple[Ticket, ...]]:
        """Give a way to take what was sent, oldest first."""
        not_given("delivered")

    def test_tickets_arrive_whole_and_in_order(
        self, dispatcher: Dispatcher, delivered: Callable[[], tuple[Ticket, ...]]
    ) -> None:
        tickets = tuple(a_ticket(index=index, attempt=index + 1) for index in range(4))
        for ticket in tickets:
            dispatcher.send(ticket)
        assert delivered() == tickets

    def test_threads_can_send_at_once(
        self, dispatcher: Dispatcher, delivered: Callable[[], tuple[Ticket, ...]]
    ) -> None:
        tickets = [a_ticket(index=index) for index in range(8)]
        at_once([partial(dispatcher.send, ticket) for ticket in tickets])
        assert sorted(delivered(), key=lambda ticket: ticket.index) == tickets
