"""Cells that a person, a window or a shutdown ended: they go on, and lose nothing by it."""

from farm.coordinator.loop import EndKind
from farm.model import (
    FaultKind,
    Ticket,
    parse_record,
)
from farm.model.keys import result_key
from farm.model.result import Result
from tests.builders.sweeps import Farm, Finding, a_plan, evidence, fault, quick_retry


def right(_ticket: Ticket) -> Finding:
    return evidence()


def test_a_cell_whose_worker_shuts_down_goes_to_another() -> None:
    farm = Farm(a_plan(trials=2))
    end = farm.run(farm.works(lambda ticket: fault(FaultKind.CANCELLED) if ticket.attempt == 1 else evidence()))
    assert end.close is not None
    assert farm.attempts(0) == [1, 2]


def test_interrupts_use_up_no_attempt_of_the_policy_across_runs() -> None:
    """Two shutdowns, two host faults, and the next coordinator still has the third counted attempt to give."""
    ends = {1: FaultKind.CANCELLED, 2: FaultKind.HOST, 3: FaultKind.CANCELLED, 4: FaultKind.HOST}
    farm = Farm(a_plan(trials=1, retry=quick_retry(most_attempts=3)))

    def find(ticket: Ticket) -> Finding:
        kind = ends.get(ticket.attempt) if ticket.index == 0 else None
        return evidence() if kind is None else fault(kind)

    work = farm.works(find)
    assert farm.run(lambda turn: work(turn) or farm.attempts(0) == [1, 2, 3]).kind is EndKind.INTERRUPTED
    assert farm.run(work, farm.coordinator("second")).kind is EndKind.CLOSED
    assert farm.attempts(0) == [1, 2, 3, 4, 5]
    key = result_key(farm.sweep, farm.plan.cells[0].id)
    assert parse_record(Result, farm.records.read(key) or b"", key).fault is None
