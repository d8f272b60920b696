"""Sweeps that were measured and sealed in memory, for later ones to take over from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from farm.adapters.memory.store import MemoryStore
from farm.audit import Audit, verify
from farm.finalizer.finalize import finalize, read_finalized
from farm.gates.table import Row
from farm.model import Artifact, Cell, CellId, Digest, Evidence, Plan, Result, SweepId, Task, Ticket, parse_record
from farm.model.keys import result_key
from farm.planning.carrying import Reuse, Source
from farm.planning.reuse import ReuseRule
from farm.ports import Store
from farm.testing.clock import START, FakeClock
from tests.builders.finalizing import gates, render
from tests.builders.sweeps import Farm, Finding, a_plan, evidence

STREAM = b'{"said": "done"}\n'
DAY = timedelta(days=1)
Find = Callable[[Plan, Ticket], Finding]


def cell_of(plan: Plan, ticket: Ticket) -> Cell:
    return plan.cells[ticket.index]


def proven(plan: Plan, ticket: Ticket, **changes: object) -> Evidence:
    """Give the evidence of a cell under its own lock."""
    return evidence().model_copy(update={"lock": plan.lock(cell_of(plan, ticket)), **changes})


def changed(plan: Plan, **changes: object) -> Plan:
    """Copy the plan with fields changed, and what it must be checked."""
    return Plan.model_validate({name: getattr(plan, name) for name in Plan.model_fields} | changes)


def a_task(plan: Plan, **changes: object) -> Plan:
    """Copy the plan with its task changed."""
    task: Task = plan.tasks[0].model_copy(update=changes)
    return changed(plan, tasks=(task,))


@dataclass
class Measured:
    """A sealed sweep."""

    store: MemoryStore
    sweep: SweepId
    plan: Plan
    ran: Sequence[str]
    """The cells for which a ticket was sent."""

    @property
    def source(self) -> Source:
        return Source(self.store, self.sweep)

    def result(self, cell: str) -> Result:
        key = result_key(self.sweep, CellId(cell))
        return parse_record(Result, self.store.records.read(key) or b"", key)

    def rows(self) -> dict[str, Row]:
        return {row.cell: row for row in read_finalized(self.sweep, self.store.records).report.table.rows}

    def audited(self) -> Audit:
        records = self.store.records
        return verify(self.store, self.sweep, gates, lambda: render(read_finalized(self.sweep, records).report))


def a_store() -> MemoryStore:
    store = MemoryStore()
    store.blobs.put(STREAM)
    return store


def measure(
    plan: Plan | None = None, store: MemoryStore | None = None, at: datetime = START, find: Find = proven
) -> Measured:
    """Run a sweep to its end, and seal it."""
    plan, store = plan or a_plan(), store or a_store()
    farm = Farm(plan, clock=FakeClock(at), store=store)
    ran = list[str]()
    stream = Artifact(role="stream", media_type="text/plain", digest=Digest.of(STREAM), size_bytes=len(STREAM))

    def finding(ticket: Ticket) -> Finding:
        ran.append(ticket.cell)
        return find(plan, ticket)

    farm.run(farm.works(finding, artifacts=(stream,)))
    finalize(farm.sweep, farm.finalizer_ports, gates, render)
    return Measured(store, farm.sweep, plan, ran)


def reuse(plan: Plan, *sources: Source, at: datetime = START + DAY, within: timedelta = 90 * DAY) -> Reuse:
    """Look for the plan's cells in these sweeps."""
    return Reuse.found(plan, sources, ReuseRule(at, within))


def taking_over(plan: Plan, found: Reuse, store: Store) -> Plan:
    """Give the plan that is submitted to `store`."""
    return found.carry(plan.with_reused(found.origins), store)
