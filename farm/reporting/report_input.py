"""What a report is made of: one sealed-to-be sweep, read back from its records and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from farm.gates.table import Table
from farm.model import Artifact, CellId, CleanupRecord, Close, Opening, Outcome, Plan, Settlement, SweepId, Verdict


@dataclass(frozen=True, slots=True)
class ReportInput:
    """Everything that a report shows. The same input gives the same report, byte for byte."""

    sweep: SweepId
    plan: Plan
    opening: Opening
    close: Close
    settlement: Settlement
    cleanup: CleanupRecord
    table: Table
    verdicts: tuple[Verdict, ...]
    outcomes: Mapping[CellId, tuple[Outcome, ...]]
    """Every attempt's outcome that stood at settlement, by cell, oldest first."""
    counted: Mapping[CellId, int]
    """The attempt that the result of each settled cell names."""
    left: Mapping[CellId, Mapping[int, tuple[Artifact, ...]]] = field(default_factory=dict)
    """What the next worker found of one that died, by cell and attempt."""
