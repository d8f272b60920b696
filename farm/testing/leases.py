# ruff: noqa: S101, PLR2004 (a suite of tests, run by pytest in somebody's test folder)
"""What every lease book must do. Subclass in your tests and override the fixtures."""

from collections.abc import Callable
from datetime import UTC
from functools import partial

import pytest

from farm.model import CellId, Digest, Lease, Refusal, StopReason, SweepId, Ticket
from farm.ports import LeaseBook, Renewal, Signals
from farm.testing.hooks import not_given
from farm.testing.racing import at_once

SWEEP = SweepId("suite-000000000000.1")
OTHER = SweepId("other-000000000000.1")
LONG_S = 60.0
SHORT_S = 0.2
HELD = Renewal(is_held=True)
LOST = Renewal(is_held=False)


def a_ticket(index: int = 0, attempt: int = 1, sweep: SweepId = SWEEP) -> Ticket:
    """Make a ticket for the cell at `index`."""
    cell = CellId(f"task.arm.{index + 1}")
    return Ticket(sweep=sweep, plan=Digest("0" * 64), cell=cell, index=index, attempt=attempt)


def a_lease(ticket: Ticket, holder: str) -> Lease:
    """Make the lease that `holder` gets for `ticket`."""
    return Lease(sweep=ticket.sweep, cell=ticket.cell, index=ticket.index, attempt=ticket.attempt, holder=holder)


class LeaseSuite:
    """Any lease book. Each test gets an empty one."""

    @pytest.fixture
    def leases(self) -> LeaseBook:
        """Give an empty lease book."""
        not_given("leases")

    @pytest.fixture
    def signals(self) -> Signals:
        """Give the signals that the book's renewals carry."""
        not_given("signals")

    @pytest.fixture
    def let_pass(self) -> Callable[[float], None]:
        """Give a way to let seconds pass on the book's clock."""
        not_given("let_pass")

    @pytest.fixture
    def wipe(self) -> Callable[[], None]:
        """Give a way to make the book lose everything."""
        not_given("wipe")

    def test_the_book_has_a_clock_in_utc(self, leases: LeaseBook, let_pass: Callable[[float], None]) -> None:
        before = leases.now()
        assert before.tzinfo is UTC
        let_pass(SHORT_S)
        assert (leases.now() - before).total_seconds() >= SHORT_S

    def test_an_unknown_sweep_refuses_claims(self, leases: LeaseBook) -> None:
        assert leases.claim(a_ticket(), "h/1/1", LONG_S) is Refusal.CLOSED

    def test_a_claim_gives_the_lease_and_shows_it_as_live(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        ticket = a_ticket(index=7)
        leases.announce(ticket)
        assert leases.claim(ticket, "host one/1/1", LONG_S) == a_lease(ticket, "host one/1/1")
        assert leases.live(SWEEP) == (a_lease(ticket, "host one/1/1"),)
        assert leases.live(OTHER) == ()

    def test_a_claim_that_was_never_announced_succeeds_when_nothing_newer_is_known(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        assert leases.claim(a_ticket(attempt=2), "h/1/1", LONG_S) == a_lease(a_ticket(attempt=2), "h/1/1")
        assert leases.claim(a_ticket(attempt=1), "h/1/2", LONG_S) is Refusal.STALE

    def test_a_second_claim_of_a_live_lease_is_refused_but_its_holder_may_ask_again(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        first = leases.claim(a_ticket(), "h/1/1", LONG_S)
        assert leases.claim(a_ticket(), "h/1/2", LONG_S) is Refusal.HELD
        assert leases.claim(a_ticket(), "h/1/1", LONG_S) == first

    def test_a_newer_attempt_waits_for_the_older_lease_to_end(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        old = a_lease(a_ticket(), "h/1/1")
        leases.claim(a_ticket(), "h/1/1", LONG_S)
        leases.announce(a_ticket(attempt=2))
        assert leases.claim(a_ticket(attempt=2), "h/1/2", LONG_S) is Refusal.HELD
        assert leases.renew(old, LONG_S) == LOST
        leases.release(old)
        assert leases.claim(a_ticket(attempt=2), "h/1/2", LONG_S) == a_lease(a_ticket(attempt=2), "h/1/2")

    def test_announcing_an_older_attempt_changes_nothing(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        leases.announce(a_ticket(attempt=3))
        leases.announce(a_ticket(attempt=2))
        assert leases.claim(a_ticket(attempt=2), "h/1/1", LONG_S) is Refusal.STALE
        assert leases.claim(a_ticket(attempt=3), "h/1/1", LONG_S) == a_lease(a_ticket(attempt=3), "h/1/1")

    def test_refusals_come_in_their_order(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        leases.claim(a_ticket(attempt=2), "h/1/1", LONG_S)
        claim = partial(leases.claim, holder="h/1/2", ttl_s=LONG_S)
        assert claim(a_ticket(attempt=2)) is Refusal.HELD
        assert claim(a_ticket(attempt=1)) is Refusal.STALE
        leases.settle(SWEEP, a_ticket().cell, 0)
        assert claim(a_ticket(attempt=1)) is Refusal.SETTLED
        leases.open_sweep(SWEEP, paused_from=0)
        assert claim(a_ticket(attempt=1)) is Refusal.PAUSED
        leases.close_sweep(SWEEP)
        assert claim(a_ticket(attempt=1)) is Refusal.CLOSED

    def test_a_pause_refuses_from_its_index_on_until_the_sweep_is_opened_again(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP, paused_from=2)
        assert leases.claim(a_ticket(index=1), "h/1/1", LONG_S) == a_lease(a_ticket(index=1), "h/1/1")
        assert leases.claim(a_ticket(index=2), "h/1/2", LONG_S) is Refusal.PAUSED
        assert leases.claim(a_ticket(index=3), "h/1/3", LONG_S) is Refusal.PAUSED
        leases.open_sweep(SWEEP, paused_from=3)
        assert leases.claim(a_ticket(index=2), "h/1/2", LONG_S) == a_lease(a_ticket(index=2), "h/1/2")
        leases.open_sweep(SWEEP)
        assert leases.claim(a_ticket(index=3), "h/1/3", LONG_S) == a_lease(a_ticket(index=3), "h/1/3")

    def test_closing_leaves_live_leases_alone(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        lease = a_lease(a_ticket(), "h/1/1")
        leases.claim(a_ticket(), "h/1/1", LONG_S)
        leases.close_sweep(SWEEP)
        assert leases.live(SWEEP) == (lease,)
        assert leases.renew(lease, LONG_S) == HELD

    def test_settling_leaves_a_live_lease_alone(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        lease = a_lease(a_ticket(), "h/1/1")
        leases.claim(a_ticket(), "h/1/1", LONG_S)
        leases.settle(SWEEP, lease.cell, lease.index)
        assert leases.renew(lease, LONG_S) == HELD

    def test_a_lease_that_ended_before_or_after_its_cell_settled_is_over_for_good(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        before, after = (a_lease(a_ticket(index=index), f"h/1/{index}") for index in (3, 4))
        for lease in (before, after):
            leases.claim(a_ticket(index=lease.index), lease.holder, LONG_S)
        leases.release(before)
        leases.settle(SWEEP, before.cell, before.index)
        leases.settle(SWEEP, after.cell, after.index)
        leases.release(after)
        assert [leases.renew(lease, LONG_S) for lease in (before, after)] == [LOST, LOST]
        assert leases.live(SWEEP) == ()
        assert [leases.claim(a_ticket(index=index, attempt=9), "h/1/9", LONG_S) for index in (3, 4)] == [
            Refusal.SETTLED,
            Refusal.SETTLED,
        ]

    def test_a_lease_ends_by_itself(self, leases: LeaseBook, let_pass: Callable[[float], None]) -> None:
        leases.open_sweep(SWEEP)
        leases.claim(a_ticket(), "h/1/1", SHORT_S)
        let_pass(SHORT_S * 1.5)
        assert leases.live(SWEEP) == ()
        assert leases.claim(a_ticket(), "h/1/2", LONG_S) == a_lease(a_ticket(), "h/1/2")

    def test_a_newer_attempt_takes_over_when_the_older_lease_has_ended(
        self, leases: LeaseBook, let_pass: Callable[[float], None]
    ) -> None:
        leases.open_sweep(SWEEP)
        old, new = a_lease(a_ticket(), "h/1/1"), a_lease(a_ticket(attempt=2), "h/1/2")
        leases.claim(a_ticket(), "h/1/1", SHORT_S)
        let_pass(SHORT_S * 1.5)
        assert leases.claim(a_ticket(attempt=2), "h/1/2", LONG_S) == new
        assert leases.renew(old, LONG_S) == LOST
        assert leases.live(SWEEP) == (new,)

    def test_an_attempt_that_was_given_up_unwritten_may_be_claimed_again(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        given_up = a_lease(a_ticket(), "h/1/1")
        leases.claim(a_ticket(), "h/1/1", LONG_S)
        leases.release(given_up)
        assert leases.live(SWEEP) == ()
        assert leases.claim(a_ticket(), "h/1/2", LONG_S) == a_lease(a_ticket(), "h/1/2")
        assert leases.renew(given_up, LONG_S) == LOST

    def test_what_is_asked_twice_since_the_answer_was_lost_is_done_once(self, leases: LeaseBook) -> None:
        lease = a_lease(a_ticket(attempt=2), "h/1/1")
        for _ in range(2):
            leases.open_sweep(SWEEP, paused_from=1)
            leases.announce(a_ticket(attempt=2))
            leases.settle(SWEEP, a_ticket(index=5).cell, 5)
        claims = [leases.claim(a_ticket(attempt=2), "h/1/1", LONG_S) for _ in range(2)]
        assert claims == [lease, lease]
        assert [leases.renew(lease, LONG_S) for _ in range(2)] == [HELD, HELD]
        assert leases.live(SWEEP) == (lease,)
        for _ in range(2):
            leases.release(lease)
            assert leases.live(SWEEP) == ()
        for _ in range(2):
            leases.close_sweep(SWEEP)
            leases.forget(SWEEP)
        assert leases.claim(a_ticket(attempt=2), "h/1/2", LONG_S) is Refusal.CLOSED

    def test_sweeps_know_nothing_of_one_another(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        leases.open_sweep(OTHER)
        here, there = a_ticket(), a_ticket(sweep=OTHER)
        leases.announce(a_ticket(attempt=3))
        leases.settle(SWEEP, here.cell, here.index)
        leases.open_sweep(SWEEP, paused_from=0)
        assert leases.claim(there, "h/1/1", LONG_S) == a_lease(there, "h/1/1")
        leases.close_sweep(SWEEP)
        assert leases.renew(a_lease(there, "h/1/1"), LONG_S) == HELD
        assert leases.live(SWEEP) == ()

    def test_renewing_moves_the_end(self, leases: LeaseBook, let_pass: Callable[[float], None]) -> None:
        leases.open_sweep(SWEEP)
        lease = a_lease(a_ticket(), "h/1/1")
        leases.claim(a_ticket(), "h/1/1", SHORT_S)
        assert leases.renew(lease, LONG_S) == HELD
        let_pass(SHORT_S * 1.5)
        assert leases.live(SWEEP) == (lease,)

    def test_a_late_holder_renews_what_nobody_took(self, leases: LeaseBook, let_pass: Callable[[float], None]) -> None:
        leases.open_sweep(SWEEP)
        lease = a_lease(a_ticket(), "h/1/1")
        leases.claim(a_ticket(), "h/1/1", SHORT_S)
        let_pass(SHORT_S * 1.5)
        assert leases.renew(lease, LONG_S) == HELD
        assert leases.claim(a_ticket(), "h/1/2", LONG_S) is Refusal.HELD

    def test_a_late_holder_loses_what_another_took_even_when_that_has_ended(
        self, leases: LeaseBook, let_pass: Callable[[float], None]
    ) -> None:
        leases.open_sweep(SWEEP)
        late, taken = a_lease(a_ticket(), "h/1/1"), a_lease(a_ticket(), "h/1/2")
        leases.claim(a_ticket(), "h/1/1", SHORT_S)
        let_pass(SHORT_S * 1.5)
        leases.claim(a_ticket(), "h/1/2", LONG_S)
        assert leases.renew(late, LONG_S) == LOST
        leases.release(late)
        assert leases.live(SWEEP) == (taken,)
        leases.release(taken)
        assert leases.renew(late, LONG_S) == LOST
        assert leases.live(SWEEP) == ()

    def test_after_a_wipe_renewing_makes_the_lease_again(self, leases: LeaseBook, wipe: Callable[[], None]) -> None:
        leases.open_sweep(SWEEP)
        lease = a_lease(a_ticket(attempt=2), "h/1/1")
        leases.claim(a_ticket(attempt=2), "h/1/1", LONG_S)
        wipe()
        assert leases.live(SWEEP) == ()
        assert leases.renew(lease, LONG_S) == HELD
        assert leases.live(SWEEP) == (lease,)
        assert leases.claim(a_ticket(attempt=2), "h/1/2", LONG_S) is Refusal.CLOSED
        leases.open_sweep(SWEEP)
        assert leases.claim(a_ticket(attempt=2), "h/1/2", LONG_S) is Refusal.HELD
        assert leases.claim(a_ticket(attempt=1), "h/1/2", LONG_S) is Refusal.STALE

    def test_after_a_wipe_the_newer_attempt_wins_whoever_renews_first(
        self, leases: LeaseBook, wipe: Callable[[], None]
    ) -> None:
        old, new = a_lease(a_ticket(attempt=1), "h/1/1"), a_lease(a_ticket(attempt=2), "h/1/2")
        wipe()
        assert leases.renew(old, LONG_S) == HELD
        assert leases.renew(new, LONG_S) == HELD
        assert leases.renew(old, LONG_S) == LOST
        assert leases.live(SWEEP) == (new,)

    def test_renewing_carries_the_stop_order_also_when_the_lease_is_lost(
        self, leases: LeaseBook, signals: Signals
    ) -> None:
        leases.open_sweep(SWEEP)
        lease = a_lease(a_ticket(), "h/1/1")
        leases.claim(a_ticket(), "h/1/1", LONG_S)
        signals.order_stop(SWEEP, StopReason.CANCEL)
        assert leases.renew(lease, LONG_S) == Renewal(is_held=True, stop=StopReason.CANCEL)
        leases.announce(a_ticket(attempt=2))
        assert leases.renew(lease, LONG_S) == Renewal(is_held=False, stop=StopReason.CANCEL)
        signals.withdraw_stop(SWEEP)
        assert leases.renew(lease, LONG_S) == LOST

    def test_live_leases_are_listed_by_index(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        for index in (11, 2, 30):
            leases.claim(a_ticket(index=index), f"h/1/{index}", LONG_S)
        assert [lease.index for lease in leases.live(SWEEP)] == [2, 11, 30]

    def test_a_forgotten_sweep_is_unknown(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        leases.open_sweep(OTHER)
        leases.claim(a_ticket(attempt=2), "h/1/1", LONG_S)
        leases.forget(SWEEP)
        assert leases.live(SWEEP) == ()
        assert leases.claim(a_ticket(attempt=2), "h/1/2", LONG_S) is Refusal.CLOSED
        leases.open_sweep(SWEEP)
        assert leases.claim(a_ticket(attempt=1), "h/1/2", LONG_S) == a_lease(a_ticket(), "h/1/2")
        other = a_ticket(sweep=OTHER)
        assert leases.claim(other, "h/1/3", LONG_S) == a_lease(other, "h/1/3")

    def test_of_many_claims_one_is_granted(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        for index in range(20):
            ticket = a_ticket(index=index)
            claims = [partial(leases.claim, ticket, f"h/1/{number}", LONG_S) for number in range(12)]
            answers = at_once(claims)
            granted = [answer for answer in answers if isinstance(answer, Lease)]
            assert len(granted) == 1
            assert answers.count(Refusal.HELD) == 11
            assert granted[0] in leases.live(SWEEP)

    def test_a_claim_and_an_announcement_at_once_never_leave_two_attempts_renewable(self, leases: LeaseBook) -> None:
        leases.open_sweep(SWEEP)
        for index in range(20):
            old, new = a_ticket(index=index), a_ticket(index=index, attempt=2)
            claim: Callable[[], object] = partial(leases.claim, old, "h/1/1", LONG_S)
            announce: Callable[[], object] = partial(leases.announce, new)
            at_once([claim, announce])
            assert leases.renew(a_lease(old, "h/1/1"), LONG_S) == LOST
