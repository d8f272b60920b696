"""One planned cell of a settled sweep, with all that its records say."""

from collections.abc import Callable
from dataclasses import dataclass

from farm.gates.promotion.taxonomy import RowKind, kind_of
from farm.gates.table import Row
from farm.model import Arm, Artifact, Cell, Digest, Outcome, Task
from farm.model.keys import blob_key
from farm.reporting.report_input import ReportInput

ReadBlob = Callable[[Digest], bytes]


@dataclass(frozen=True, slots=True)
class Case:
    """A cell, its settled row, and the sweep that it stands in."""

    report: ReportInput
    cell: Cell
    row: Row

    @property
    def task(self) -> Task:
        return self.report.plan.task_by_name[self.cell.task]

    @property
    def arm(self) -> Arm:
        return self.report.plan.arm_by_name[self.cell.arm]

    @property
    def kind(self) -> RowKind:
        return kind_of(self.row)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Give every attempt's outcome, oldest first."""
        return self.report.outcomes.get(self.cell.id, ())

    @property
    def counted(self) -> Outcome | None:
        """Give the outcome that the cell's result names."""
        number = self.report.counted.get(self.cell.id)
        return next((outcome for outcome in self.outcomes if outcome.attempt == number), None)

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        """Give those of the counted attempt, with what was found of a worker that died."""
        counted = self.counted
        if counted is None:
            return ()
        return (*counted.artifacts, *self.report.left.get(self.cell.id, {}).get(counted.attempt, ()))

    def artifact(self, role: str) -> Artifact | None:
        return next((artifact for artifact in self.artifacts if artifact.role == role), None)


def place_of(artifact: Artifact) -> str:
    """Say where its bytes stand, below the store's root."""
    return blob_key(artifact.digest)
