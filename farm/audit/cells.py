"""The walk from the settlement down: results, attempts, and what they name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from farm.audit.links import Links
from farm.audit.reader import Reader
from farm.gates.table import Table
from farm.gates.tabulate import SettledRecords, tabulate
from farm.model import (
    AttemptCleanup,
    CellId,
    CleanupRecord,
    Close,
    Digest,
    Outcome,
    Plan,
    Result,
    Sealed,
    SettledCell,
    Settlement,
    SweepId,
    canonical_json,
)
from farm.model.keys import (
    AttemptFile,
    AttemptPlace,
    attempt_place,
    outcome_key,
    result_key,
    settlement_key,
    sweep_root,
)
from farm.model.settle import result_of


@dataclass(frozen=True, slots=True)
class WalkedCell:
    """What stands in the store of one settled cell."""

    records: tuple[Outcome | AttemptCleanup, ...]
    """Of every attempt that the settlement names."""
    counted: Outcome | None
    cleanup: AttemptCleanup | None
    """After the counted attempt, or the last one when none counts."""

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """List every attempt's, in order of attempt."""
        found = (record for record in self.records if isinstance(record, Outcome))
        return tuple(sorted(found, key=lambda outcome: outcome.attempt))


@dataclass(frozen=True, slots=True)
class CellWalk:
    """Walks the cells of one settlement."""

    sweep: SweepId
    plan: Plan
    reader: Reader
    links: Links

    def walk(self, settled: SettledCell) -> WalkedCell:
        """Read and link everything that the settlement names of one cell."""
        outcomes, cleanups = dict[int, Outcome](), dict[int, AttemptCleanup]()
        last = 0
        for sealed in settled.attempts:
            place = attempt_place(sealed.key)
            if place is None or place.cell != settled.cell:
                where = settlement_key(self.sweep)
                self.reader.notebook.flaw(where, f"it names {sealed.key!r}, which is no attempt of {settled.cell}")
                continue
            last = max(last, place.attempt)
            match self._attempt_record(place, sealed):
                case Outcome() as outcome:
                    outcomes[place.attempt] = outcome
                case AttemptCleanup() as cleanup:
                    cleanups[place.attempt] = cleanup
                case None:
                    pass
        result = self._result(settled, outcomes)
        return WalkedCell(
            records=(*outcomes.values(), *cleanups.values()),
            counted=None if result is None else outcomes.get(result.attempt),
            cleanup=cleanups.get(last if result is None else result.attempt),
        )

    def _attempt_record(self, place: AttemptPlace, sealed: Sealed) -> Outcome | AttemptCleanup | None:
        key = sweep_root(self.sweep) + sealed.key
        self.links.add(settlement_key(self.sweep), key, sealed.digest)
        match place.file:
            case AttemptFile.OUTCOME:
                read = self.reader.read(Outcome, key)
                if read is not None and read.value is not None:
                    self._check_outcome(key, place, read.value)
                return None if read is None else read.value
            case AttemptFile.CLEANUP:
                cleaned = self.reader.read(AttemptCleanup, key)
                return None if cleaned is None else cleaned.value
            case AttemptFile.CLAIM:
                self.reader.body(key)
                return None
            case _:
                assert_never(place.file)

    def _check_outcome(self, key: str, place: AttemptPlace, outcome: Outcome) -> None:
        said = (outcome.sweep, outcome.plan, outcome.cell, outcome.attempt)
        if said != (self.sweep, self.plan.digest, place.cell, place.attempt):
            self.reader.notebook.flaw(
                key, f"it is the outcome of attempt {outcome.attempt} of {outcome.cell} elsewhere"
            )
            return
        index = self.plan.index_by_cell.get(place.cell)
        evidence = outcome.evidence
        if index is not None and evidence is not None and evidence.lock != self.plan.lock(self.plan.cells[index]):
            self.reader.notebook.flaw(key, "its evidence was made under another lock than the plan's")

    def _result(self, settled: SettledCell, outcomes: dict[int, Outcome]) -> Result | None:
        if settled.result is None:
            return None
        key = result_key(self.sweep, settled.cell)
        self.links.add(settlement_key(self.sweep), key, settled.result)
        read = self.reader.read(Result, key)
        if read is None or read.value is None:
            return None
        counted = outcome_key(self.sweep, settled.cell, read.value.attempt)
        digest = self.reader.digests.get(counted)
        outcome = outcomes.get(read.value.attempt)
        if digest is None or outcome is None:
            self.reader.notebook.flaw(key, f"it counts attempt {read.value.attempt}, whose outcome was not settled")
            return read.value
        self.links.add(key, counted, read.value.outcome)
        self.links.add(counted, key, Digest.of(canonical_json(result_of(outcome, digest))))
        return read.value


def tabulate_walked(
    plan: Plan, close: Close, settlement: Settlement, cleanup: CleanupRecord, cells: Mapping[CellId, WalkedCell]
) -> Table:
    """Make the table from the walk."""
    return tabulate(
        SettledRecords(
            plan=plan,
            close=close,
            settlement=settlement,
            cleanup=cleanup,
            outcomes={cell: walked.counted for cell, walked in cells.items() if walked.counted is not None},
            cleanups={cell: walked.cleanup for cell, walked in cells.items() if walked.cleanup is not None},
            attempts={cell: walked.outcomes for cell, walked in cells.items()},
        )
    )
