"""`farm coordinate --open` over every open sweep of a store, its ports in memory."""

import threading
import time

from farm.adapters.system_clock import SystemClock
from farm.cli.all_open import OpenSweeps
from farm.coordinator.submit import submit
from farm.model import Plan
from farm.model.keys import close_key
from tests.builders.sweeps import Farm, Worker, a_plan, evidence

PORTS = ("records", "signals", "leases", "dispatcher", "events", "hosts", "queues", "leadership", "shares")


def beside(farm: Farm, plan: Plan) -> Farm:
    """Submit another sweep to the same store and Redis."""
    made = Farm(plan, clock=farm.clock)
    for name in PORTS:
        setattr(made, name, getattr(farm, name))
    made.sweep = submit(plan, None, farm.records, "tester", farm.clock)
    return made


def test_every_open_sweep_is_led_to_its_end_and_those_of_others_are_left_alone() -> None:
    first = Farm(a_plan(), clock=SystemClock())  # type: ignore[arg-type]  # real time: it is only slept on
    farms = {farm.sweep: farm for farm in (first, *(beside(first, a_plan(name=name)) for name in ("two", "three")))}
    *ours, theirs = farms
    assert first.leadership.lead(theirs, "another", 10**6)
    store, exchange = first.as_the_command_line_has_it()
    said = list[str]()
    until_s = time.monotonic() + 60

    def work() -> None:
        for ticket in first.dispatcher.take():
            worker = Worker(farms[ticket.sweep])
            if worker.claim(ticket):
                worker.finish(ticket.index, evidence())

    def should_stop() -> bool:
        return len(said) == len(ours) or time.monotonic() > until_s

    leading = threading.Thread(target=OpenSweeps(store, exchange, first.clock, said.append).lead, args=(should_stop,))
    leading.start()
    while leading.is_alive():
        work()
        leading.join(0.05)
    assert sorted(said) == sorted(f"{sweep}: complete; next:  farm finalize {sweep}" for sweep in ours)
    assert [len(farms[sweep].results()) for sweep in ours] == [6, 6]
    assert first.records.read(close_key(theirs)) is None
    assert farms[theirs].results() == []
