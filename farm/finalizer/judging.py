"""Judging: each of the plan's gates over the table, from the store alone."""

from farm.errors import SpecError
from farm.finalizer.reading import Head
from farm.finalizer.writing import Written, write_same
from farm.gates.protocol import Basis, GateSource
from farm.gates.table import Table
from farm.model import Pin, Verdict
from farm.model.keys import verdict_key
from farm.ports import Records


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
    basis = Basis(sweep=head.sweep, settlement=head.settlement.digest, cleanup=head.cleanup.digest)
    return basis.verdict(pin, gate.judge(table, pin.options))
