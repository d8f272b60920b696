"""A finalizer over a farm in memory, a gate that counts, and records that die at the n-th creation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from farm.finalizer.finalize import Finalized, finalize
from farm.finalizer.ports import FinalizerPorts
from farm.gates.protocol import Gate, Judgement
from farm.gates.table import Table
from farm.model import (
    Decision,
    FaultKind,
    Pin,
    Ticket,
)
from farm.ports import Records
from farm.reporting.report_input import ReportInput
from tests.builders.sweeps import Farm, Worker, a_plan, evidence, fault

PIN = Pin(name="counting", version="1", options={"least": 1})


class CountingGate:
    """Passes when enough cells are correct."""

    name = "counting"
    version = "1"

    def policy(self, options: dict[str, JsonValue], tasks: tuple[str, ...]) -> dict[str, JsonValue]:  # noqa: ARG002 (the protocol's)
        return options

    def judge(self, table: Table, policy: dict[str, JsonValue]) -> Judgement:
        correct = sum(row.oracle is not None and row.oracle.correct is True for row in table.rows)
        enough = correct >= int(str(policy["least"]))
        return Judgement(
            decision=Decision.PASS if enough else Decision.FAIL,
            summary=f"{correct} correct",
            checks=(),
            findings={"rows": len(table.rows), "errors": list(table.lifecycle.errors)},
        )


def gates(name: str) -> Gate:
    assert name == "counting"
    return CountingGate()


def render(report: ReportInput) -> Mapping[str, bytes]:
    lines = [f"{row.cell} {row.attempts} {row.unsettled} {row.cleanup_problem}" for row in report.table.rows]
    verdicts = [verdict.summary for verdict in report.verdicts]
    return {"report.md": "\n".join(lines + verdicts).encode(), "a.json": b"{}"}


@dataclass
class Crash(Exception):  # noqa: N818 (not an error of ours: the machine went dead)
    at: int


@dataclass
class DyingRecords:
    """Records whose n-th creation is the last thing that happens: before it is done, or just after."""

    records: Records
    left: int
    after: bool = False

    def create(self, key: str, body: bytes) -> bool:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise Crash(self.left)
        done = self.records.create(key, body)
        if self.left == 0:
            raise Crash(self.left)
        return done

    def read(self, key: str) -> bytes | None:
        return self.records.read(key)

    def keys(self, prefix: str) -> Iterator[str]:
        return self.records.keys(prefix)


def run(farm: Farm, ports: FinalizerPorts | None = None) -> Finalized:
    return finalize(farm.sweep, ports or farm.finalizer_ports, gates, render)


def a_farm(**changes: object) -> Farm:
    """A sweep that ran to its end: one cell lost its first worker, another never had a usable outcome."""
    farm = Farm(a_plan(trials=3, gates=(PIN,), **changes))

    def find(ticket: Ticket) -> object:
        if (ticket.index, ticket.attempt) == (1, 1):
            return fault(FaultKind.HOST)
        return fault(FaultKind.TASK) if ticket.index == 4 else evidence()

    farm.run(farm.works(find))  # type: ignore[arg-type]  # evidence or fault
    return farm


def claim(farm: Farm, count: int) -> Worker:
    """Start the first `count` cells, and leave them running."""
    worker = Worker(farm)
    for index, cell in enumerate(farm.plan.cells[:count]):
        farm.leases.open_sweep(farm.sweep)
        ticket = Ticket(sweep=farm.sweep, plan=farm.plan.digest, cell=cell.id, index=index, attempt=1)
        assert worker.claim(ticket)
    return worker
