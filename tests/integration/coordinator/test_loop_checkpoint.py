"""A resumed coordinator counts the same with a checkpoint as without, and reads much less."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from farm.coordinator.loop import Coordinator, EndKind
from farm.model import CloseReason, FaultKind, Ticket
from farm.model.keys import sweep_root
from farm.ports import Records
from tests.builders.sweeps import Farm, a_plan, evidence, fault

_CELLS = 1300
_MISSING = 700


@dataclass
class CountingRecords:
    """Records that count what is read of them."""

    real: Records
    reads: int = 0
    written: list[str] = field(default_factory=list)

    def create(self, key: str, body: bytes) -> bool:
        self.written.append(key)
        return self.real.create(key, body)

    def read(self, key: str) -> bytes | None:
        self.reads += 1
        return self.real.read(key)

    def keys(self, prefix: str) -> Iterator[str]:
        return self.real.keys(prefix)


def find(ticket: Ticket) -> object:
    return fault(FaultKind.TASK) if ticket.index % 100 == 0 else evidence()


def a_farm_that_was_interrupted() -> Farm:
    """All but one of the cells have a result, and the coordinator was told to stop."""
    farm = Farm(a_plan(trials=_CELLS // 2), slots=64)

    def step(_turn: int) -> bool:
        farm.works(lambda ticket: None if ticket.index == _MISSING else find(ticket))(0)
        return len(farm.results()) == _CELLS - 1

    assert farm.run(step).kind is EndKind.INTERRUPTED
    return farm


def test_a_resumed_sweep_ends_the_same_with_a_checkpoint_and_without() -> None:
    farm = a_farm_that_was_interrupted()
    found = [key for key in farm.records.bodies if "/checkpoints/" in key]
    assert len(found) >= 1
    ends, reads = [], []
    bodies = dict(farm.records.bodies)
    for kept in (found, []):
        farm.records.bodies.clear()
        farm.records.bodies.update({key: body for key, body in bodies.items() if key in kept or key not in found})
        farm.wipe()
        farm.seen.clear()
        counting = CountingRecords(farm.records)
        coordinator = Coordinator(farm.sweep, "second", replace(farm.ports, records=counting))
        end = farm.run(farm.works(find), coordinator)
        assert end.close is not None
        assert end.close.reason is CloseReason.COMPLETE
        ends.append(farm.seen[-1])
        reads.append(counting.reads)
        assert [key for key in counting.written if key.startswith(sweep_root(farm.sweep) + "close")]
    with_it, without = ends
    assert replace(with_it, notes=(), eta_s=None) == replace(without, notes=(), eta_s=None)
    assert reads[0] < 2 * (_CELLS - 1000) + 100 < 2 * _CELLS <= reads[1]
