"""Finalizing a sweep: close, settle, clean up, judge, report, seal, each record written once.

What must stay true: every instant is inside a record that is read back when it stands, and all else is pure in the
records; so a run that dies between any two steps is taken up by the next, and doing it again gives the same bytes.
Two finalizers at once meet at the exclusive records and go on with the same ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from farm.errors import IntegrityError
from farm.finalizer.cleaning import clean_up
from farm.finalizer.closing import close
from farm.finalizer.exit_code import exit_code
from farm.finalizer.judging import judge
from farm.finalizer.ports import FinalizerPorts, Grace, Render
from farm.finalizer.reading import CellRecords, Head, left_artifacts, read_cells, read_head, settled_records
from farm.finalizer.settling import settle
from farm.finalizer.writing import Written, required, write_once
from farm.gates.protocol import GateSource
from farm.gates.table import Table
from farm.gates.tabulate import tabulate
from farm.model import CellId, Digest, Opening, Plan, Seal, Sealed, SweepId, Verdict
from farm.model.keys import open_key, plan_key, report_key, seal_key, sweep_root, verdict_key
from farm.ports import Records
from farm.reporting.report_input import ReportInput

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Finalized:
    """A sealed sweep."""

    report: ReportInput
    seal: Digest
    exit_code: int


def finalize(sweep: SweepId, ports: FinalizerPorts, gates: GateSource, render: Render) -> Finalized:
    """Close the sweep for good and seal it; a sealed one is read back.

    Raises SpecError for an unknown sweep or a gate that is not installed as pinned, TransientError when a service
    does not answer (run it again), IntegrityError when a record is not what was settled.
    """
    records = ports.records
    if records.read(seal_key(sweep)) is not None:
        return read_finalized(sweep, records)
    head = _head(sweep, ports)
    cells = read_cells(head, records)
    table = tabulate(settled_records(head, cells))
    verdicts = judge(head, table, gates, records)
    report = _report(head, cells, table, verdicts)
    files = _write_report(report, render, records)
    seal = _seal(head, verdicts, files, records)
    done = _finalized(report, seal)
    _log.info("sweep.sealed", sweep=sweep, seal=done.seal, exit_code=done.exit_code)
    return done


def read_finalized(sweep: SweepId, records: Records) -> Finalized:
    """Read a sealed sweep back; raise SpecError when it is not sealed."""
    seal = required(records, seal_key(sweep), Seal)
    head = read_head(sweep, records)
    cells = read_cells(head, records)
    verdicts = tuple(required(records, verdict_key(sweep, pin.name), Verdict) for pin in head.plan.value.gates)
    return _finalized(_report(head, cells, tabulate(settled_records(head, cells)), verdicts), seal)


def _finalized(report: ReportInput, seal: Written[Seal]) -> Finalized:
    return Finalized(report, seal.digest, exit_code(report.close, report.settlement, report.verdicts))


def _report(
    head: Head, cells: Mapping[CellId, CellRecords], table: Table, verdicts: tuple[Written[Verdict], ...]
) -> ReportInput:
    return ReportInput(
        sweep=head.sweep,
        plan=head.plan.value,
        opening=head.opening.value,
        close=head.close.value,
        settlement=head.settlement.value,
        cleanup=head.cleanup.value,
        table=table,
        verdicts=tuple(verdict.value for verdict in verdicts),
        outcomes={cell: read.outcomes for cell, read in cells.items()},
        left={cell: found for cell, read in cells.items() if (found := left_artifacts(read.cleanups))},
        counted={cell: read.counted.attempt for cell, read in cells.items() if read.counted is not None},
    )


def _head(sweep: SweepId, ports: FinalizerPorts) -> Head:
    plan = required(ports.records, plan_key(sweep), Plan)
    opening = required(ports.records, open_key(sweep), Opening)
    closed = close(opening.value, plan.value, ports)
    grace = Grace(ports.clock, plan.value.grace_s)
    settlement = settle(plan.value, closed, ports, grace)
    cleanup = clean_up(settlement, ports, grace)
    return Head(plan=plan, opening=opening, close=closed, settlement=settlement, cleanup=cleanup)


def _write_report(report: ReportInput, render: Render, records: Records) -> tuple[Sealed, ...]:
    """Write the report's files; one that stands is kept, since a newer farm may render it differently."""
    files = list[Sealed]()
    for name, body in sorted(render(report).items()):
        key = report_key(report.sweep, name)
        records.create(key, body)
        stored = records.read(key)
        if stored is None:
            raise IntegrityError(f"{key} was written and is gone")
        files.append(Sealed(key=key, digest=Digest.of(stored)))
    return tuple(files)


def _seal(
    head: Head, verdicts: tuple[Written[Verdict], ...], files: tuple[Sealed, ...], records: Records
) -> Written[Seal]:
    heads = (head.plan.sealed, head.opening.sealed, head.close.sealed, head.settlement.sealed, head.cleanup.sealed)
    root = sweep_root(head.sweep)
    sealed = (
        Sealed(key=one.key.removeprefix(root), digest=one.digest)
        for one in (*heads, *(verdict.sealed for verdict in verdicts), *files)
    )
    seal = Seal(sweep=head.sweep, records=tuple(sorted(sealed, key=lambda one: one.key)))
    return write_once(records, seal_key(head.sweep), Seal, lambda: seal)
