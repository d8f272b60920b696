"""Doing again what is pure in the settled records: the table, the verdicts, the report's files."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from farm.audit.cells import WalkedCell
from farm.audit.links import Links
from farm.audit.reader import Reader
from farm.errors import SpecError
from farm.gates.protocol import Gate
from farm.gates.table import Table
from farm.gates.tabulate import SettledRecords, tabulate
from farm.model import (
    CellId,
    CleanupRecord,
    Close,
    Digest,
    Opening,
    Pin,
    Plan,
    Settlement,
    SweepId,
    Verdict,
    canonical_json,
)
from farm.model.keys import open_key, report_key, settlement_key, verdict_key
from farm.reporting.render import render
from farm.reporting.report_input import ReportInput
from farm.version import __version__

GateSource = Callable[[str], Gate]
"""Give the gate of a name; SpecError when it is not installed."""

_GENERATOR = re.compile(rb'<meta name="generator" content="([^"]*)">')


@dataclass(frozen=True, slots=True)
class Settled:
    """The head of a sweep whose records are all whole."""

    sweep: SweepId
    plan: Plan
    opening: Opening
    close: Close
    settlement: Settlement
    cleanup: CleanupRecord
    cells: Mapping[CellId, WalkedCell]


@dataclass(frozen=True, slots=True)
class Rebuild:
    """Makes verdicts and reports again and links them to what stands in the store."""

    settled: Settled
    reader: Reader
    links: Links

    def run(self, gates: GateSource, verdicts: Mapping[str, Verdict]) -> None:
        """Link each verdict, then each report file, to what the settled records give."""
        table = self._table()
        for pin in self.settled.plan.gates:
            self._judge(pin, gates, table)
        pinned = tuple(verdicts[pin.name] for pin in self.settled.plan.gates)
        self._report(table, pinned)

    def _table(self) -> Table:
        settled = self.settled
        counted = {cell: walked.counted for cell, walked in settled.cells.items()}
        cleanups = {cell: walked.cleanup for cell, walked in settled.cells.items()}
        return tabulate(
            SettledRecords(
                plan=settled.plan,
                close=settled.close,
                settlement=settled.settlement,
                cleanup=settled.cleanup,
                outcomes={cell: outcome for cell, outcome in counted.items() if outcome is not None},
                cleanups={cell: cleanup for cell, cleanup in cleanups.items() if cleanup is not None},
            )
        )

    def _judge(self, pin: Pin, gates: GateSource, table: Table) -> None:
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
        found = gate.judge(table, pin.options)
        verdict = Verdict(
            sweep=self.settled.sweep,
            settlement=Digest.of(canonical_json(self.settled.settlement)),
            cleanup=Digest.of(canonical_json(self.settled.cleanup)),
            gate=pin,
            decision=found.decision,
            summary=found.summary,
            checks=found.checks,
            findings=found.findings,
        )
        self.links.add(settlement_key(self.settled.sweep), key, Digest.of(canonical_json(verdict)))

    def _report(self, table: Table, verdicts: tuple[Verdict, ...]) -> None:
        settled = self.settled
        files = render(
            ReportInput(
                sweep=settled.sweep,
                plan=settled.plan,
                opening=settled.opening,
                close=settled.close,
                settlement=settled.settlement,
                cleanup=settled.cleanup,
                table=table,
                verdicts=verdicts,
                outcomes={cell: walked.outcomes for cell, walked in settled.cells.items()},
            )
        )
        for name, body in files.items():
            self._compare(report_key(settled.sweep, name), body)

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
                # The report shows the opening: what gives the sealed report is the opening that was sealed.
                self.links.add(key, source, Digest.of(canonical_json(self.settled.opening)))


def _generator(body: bytes) -> str:
    found = _GENERATOR.search(body)
    return "" if found is None else found[1].decode(errors="replace")
