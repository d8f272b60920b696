"""The coordinator's loop over ports in memory: tickets that go astray, and what a person is told of them."""

from farm.coordinator.loop import EndKind
from farm.model import (
    CellEvent,
    EventKind,
    Host,
    Lease,
    Pressure,
    RequestEnd,
    Ticket,
)
from tests.builders.sweeps import Farm, Finding, Worker, a_plan, evidence, indices


def right(_ticket: Ticket) -> Finding:
    return evidence()


def test_a_cell_that_no_worker_can_begin_is_told() -> None:
    farm = Farm(a_plan(trials=1))

    def step(_turn: int) -> bool:
        """Take each lease and give it back: claim.json can't be written."""
        for ticket in farm.dispatcher.take():
            lease = farm.leases.claim(ticket, f"host/{next(farm.serial)}", 30.0)
            assert isinstance(lease, Lease)
            farm.leases.release(lease)
        return any(seen.waiting and "no worker could begin it" in seen.waiting for seen in farm.seen)

    assert farm.run(step).kind is EndKind.INTERRUPTED


def test_a_cell_that_could_not_be_begun_is_told_no_longer_when_it_is_through() -> None:
    farm = Farm(a_plan(trials=1))
    worker, tickets = Worker(farm), list[Ticket]()

    def step(_turn: int) -> bool:
        """Begin no cell until that was told; then finish the first without any hint; the second goes on."""
        offered = farm.dispatcher.take()
        tickets.extend(offered)
        if not any(seen.waiting for seen in farm.seen):
            for ticket in offered:
                farm.leases.release(Lease.model_validate(farm.leases.claim(ticket, "broken", 30.0)))
        elif not worker.held:
            assert all(worker.claim(ticket) for ticket in tickets[:2])
            worker.finish(0, evidence())
            farm.events.receive(farm.sweep, 0.0)
            farm.hint(EventKind.CLAIMED, 1, 1)
        worker.renew()
        return farm.clock.monotonic() > 40

    farm.run(step)
    assert (farm.seen[-1].done, farm.seen[-1].running, farm.seen[-1].waiting) == (1, 1, None)


def test_a_ticket_that_nobody_claims_is_soon_sent_again() -> None:
    farm = Farm(a_plan(trials=1))
    sent_at_s = dict[int, list[float]]()

    def step(_turn: int) -> bool:
        for ticket in farm.dispatcher.take():
            sent_at_s.setdefault(ticket.index, []).append(farm.clock.monotonic())
        return farm.clock.monotonic() > 20

    farm.run(step)
    first_s, second_s, third_s = sent_at_s[0]
    assert 5 <= second_s - first_s < 6
    assert 10 <= third_s - second_s < 11


def test_a_host_that_takes_nothing_more_is_told_with_its_reason() -> None:
    farm = Farm(a_plan(trials=1), slots=0)
    sick = Host(
        id="host/7",
        slots=0,
        busy=0,
        version="1",
        sandbox="bubblewrap",
        seen_at=farm.clock.now(),
        problem="bubblewrap is not dead",
    )
    farm.hosts.beat(sick, 10**6)
    farm.run(lambda turn: turn > 2)
    assert farm.seen[-1].waiting == "no host that works can run arm 'old': it waits for host/7 (bubblewrap is not dead)"
    farm.slots = 1
    farm.beat()
    farm.run(lambda turn: turn > 2, farm.coordinator("second"))
    assert farm.seen[-1].waiting == "host/7: bubblewrap is not dead"


def test_what_a_provider_does_to_a_cell_is_noted_for_a_person() -> None:
    plan = a_plan(trials=2)
    arms = tuple(arm.model_copy(update={"provider": "acme"}) for arm in plan.arms)
    farm = Farm(plan.model_copy(update={"arms": arms}))

    def find(ticket: Ticket) -> Finding:
        pressure = Pressure(ends={RequestEnd.RATE_LIMITED: 3}, retry_after_s=20.0)
        if ticket.index == 0:
            event = CellEvent(kind=EventKind.PRESSURE, index=3, attempt=1, pressure=pressure)
            farm.events.publish(farm.sweep, event)
        return evidence()

    farm.run(farm.works(find))
    cell = farm.plan.cells[3].id
    assert f"provider acme: 3 times rate-limited in {cell}; it asks to wait 20 s" in farm.seen[-1].notes


def test_a_lost_ticket_is_sent_again() -> None:
    farm = Farm(a_plan(trials=1))
    world, dropped = farm.works(right), list[Ticket]()

    def step(turn: int) -> None:
        if not dropped:
            dropped.extend(farm.dispatcher.take())
        world(turn)

    farm.run(step)
    assert indices(dropped) == [0, 1]
    assert len(farm.results()) == 2


def test_tickets_that_wait_for_a_busy_fleet_are_not_repeated_every_few_seconds() -> None:
    farm = Farm(a_plan(trials=10), slots=1)
    farm.beat(busy=1)
    farm.run(lambda _turn: farm.clock.monotonic() > 50)
    assert indices(farm.dispatcher.sent) == [0, 1]


def test_a_ticket_that_nobody_ever_claims_is_repeated_more_and_more_rarely() -> None:
    farm = Farm(a_plan(trials=1), slots=4)
    farm.run(lambda _turn: farm.clock.monotonic() > 100)
    assert 4 <= indices(farm.dispatcher.sent).count(0) <= 6
