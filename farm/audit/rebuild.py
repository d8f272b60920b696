"""Doing again what is pure in the settled records: the table, the verdicts, the report's files."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from farm.audit.links import Links
from farm.audit.reader import Reader
from farm.errors import IntegrityError, SpecError
from farm.gates.protocol import Basis, GateSource
from farm.gates.table import Table
from farm.model import (
    CleanupRecord,
    Digest,
    Opening,
    Pin,
    Plan,
    Settlement,
    SweepId,
    canonical_json,
)
from farm.model.keys import open_key, report_key, settlement_key, verdict_key
from farm.version import __version__

_GENERATOR = re.compile(rb'<meta name="generator" content="([^"]*)">')


@dataclass(frozen=True, slots=True)
class Settled:
    """A sweep whose records are all whole."""

    sweep: SweepId
    plan: Plan
    opening: Opening
    settlement: Settlement
    cleanup: CleanupRecord
    table: Table


Remake = Callable[[], Mapping[str, bytes]]
"""Make the report's files again, by name; asked only when every record that they are made from is whole."""


@dataclass(frozen=True, slots=True)
class Rebuild:
    """Makes verdicts and reports again and links them to what stands in the store."""

    settled: Settled
    reader: Reader
    links: Links

    def run(self, gates: GateSource, remake: Remake) -> None:
        """Link each verdict, then each report file, to what the settled records give."""
        for pin in self.settled.plan.gates:
            self._judge(pin, gates)
        try:
            files = remake()
        except IntegrityError as error:  # whoever makes them may also need the seal, which may be damaged
            self.reader.notebook.leave(report_key(self.settled.sweep, ""), f"not made again: {error}")
            return
        for name, body in files.items():
            self._compare(report_key(self.settled.sweep, name), body)

    def _judge(self, pin: Pin, gates: GateSource) -> None:
        key = verdict_key(self.settled.sweep, pin.name)
        try:
            gate = gates(pin.name)
        except SpecError as error:
            self.reader.notebook.leave(key, f"not judged again: {error}")
            return
        if gate.version != pin.version:
            why = f"not judged again: gate {pin.name} is installed at {gate.version}, the plan pins {pin.version}"
            self.reader.notebook.leave(key, why)
            return
        basis = Basis(
            sweep=self.settled.sweep,
            settlement=Digest.of(canonical_json(self.settled.settlement)),
            cleanup=Digest.of(canonical_json(self.settled.cleanup)),
            preregistration=self.settled.plan.preregistration,
        )
        verdict = basis.verdict(pin, gate.judge(self.settled.table, pin.options))
        self.links.add(settlement_key(self.settled.sweep), key, Digest.of(canonical_json(verdict)))

    def _compare(self, key: str, body: bytes) -> None:
        stored = self.reader.records.read(key)
        if stored is None:
            return
        sealed_by = self.settled.plan.farm_version
        if sealed_by != __version__:
            self.reader.notebook.leave(key, f"not rendered again: sealed by farm {sealed_by}, this is {__version__}")
        elif _generator(stored) != _generator(body):
            self.reader.notebook.leave(key, f"not rendered again: drawn by {_generator(stored)}, here is another")
        else:
            source = open_key(self.settled.sweep)
            self.links.add(source, key, Digest.of(body))
            if stored == body and key.endswith(".json"):
                # The report names the opening's digest: the opening that gives the sealed report was sealed.
                self.links.add(key, source, Digest.of(canonical_json(self.settled.opening)))


def _generator(body: bytes) -> str:
    found = _GENERATOR.search(body)
    return "" if found is None else found[1].decode(errors="replace")
