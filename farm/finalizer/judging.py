"""Judging: each of the plan's gates over the table, from the store alone."""

from farm.errors import IntegrityError, SpecError
from farm.finalizer.reading import Head, read_cells, read_head, settled_records
from farm.finalizer.writing import Written, write_same
from farm.gates.protocol import Basis, GateSource
from farm.gates.table import Table
from farm.gates.tabulate import tabulate
from farm.model import Pin, SweepId, Verdict, canonical_json
from farm.model.keys import verdict_key
from farm.ports import Records


def judge_again(sweep: SweepId, gates: GateSource, records: Records) -> tuple[Verdict, ...]:
    """Judge a settled sweep from the store alone, as its plan says, and write nothing.

    Raises SpecError when it is not settled and cleaned up, or another version of a gate is installed, IntegrityError
    when a record is not what was settled, or a verdict that stands is not what comes out.
    """
    head = read_head(sweep, records)
    table = tabulate(settled_records(head, read_cells(head, records)))
    verdicts = tuple(_verdict(head, table, gates, pin) for pin in head.plan.value.gates)
    for verdict in verdicts:
        key = verdict_key(sweep, verdict.gate.name)
        stored = records.read(key)
        if stored is not None and stored != canonical_json(verdict):
            raise IntegrityError(
                f"{key} is not what its sweep's records give; `farm verify {sweep}` says what is wrong"
            )
    return verdicts


def judge(head: Head, table: Table, gates: GateSource, records: Records) -> tuple[Written[Verdict], ...]:
    """Write a verdict for each gate that the plan pins; raise SpecError when another version is installed."""
    verdicts = (_verdict(head, table, gates, pin) for pin in head.plan.value.gates)
    return tuple(
        write_same(records, verdict_key(head.sweep, verdict.gate.name), Verdict, verdict) for verdict in verdicts
    )


def _verdict(head: Head, table: Table, gates: GateSource, pin: Pin) -> Verdict:
    gate = gates(pin.name)
    if gate.version != pin.version:
        raise SpecError(
            f"the plan pins gate {pin.name!r} at version {pin.version}, and {gate.version} is installed; "
            f"finalize with farm {head.plan.value.farm_version}"
        )
    basis = Basis(
        sweep=head.sweep,
        settlement=head.settlement.digest,
        cleanup=head.cleanup.digest,
        preregistration=head.plan.value.preregistration,
    )
    return basis.verdict(pin, gate.judge(table, pin.options))
