"""From rows to runs: which part a row belongs to, and what its record says."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from farm.gates.reliability.attribution import Checked, GovernedRun
from farm.gates.reliability.policy import Parts
from farm.gates.reliability.repair import Repairs, Snapshot, repairs
from farm.gates.reliability.trial import Part, Trial
from farm.gates.table import Row, Table
from farm.model import Governed, SessionReport


@dataclass(frozen=True, slots=True)
class Run:
    """One measured run, with the row that it was made from."""

    trial: Trial
    row: Row
    governed: Governed

    @property
    def checked(self) -> GovernedRun:
        attempts = [
            [Checked(kind=one.kind, passed=one.passed) for one in attempt.results] for attempt in self.governed.attempts
        ]
        return GovernedRun(self.trial, attempts)

    @property
    def repairs(self) -> Repairs:
        contract = self.governed.contract
        snapshots = [
            Snapshot(one.number, one.passed, one.oracle_passed, one.capture)
            for one in self.governed.attempts
            if one.oracle_passed is not None
        ]
        return repairs(snapshots, self.trial.oracle_passed, None if contract is None else contract.attempts)


@dataclass(frozen=True, slots=True)
class Runs:
    """All that was planned for the three parts, in the plan's order of tasks, then by trial."""

    measured: dict[Part, tuple[Run, ...]]
    missing: tuple[str, ...]
    """Cells without evidence, or of which nobody knows what they claimed."""

    def trials(self) -> dict[Part, Sequence[Trial]]:
        return {part: [run.trial for run in runs] for part, runs in self.measured.items()}

    def __iter__(self) -> Iterator[Run]:
        for runs in self.measured.values():
            yield from runs


def read_runs(table: Table, parts: Parts) -> Runs:
    """Sort the table's rows into the parts; other arms' rows are left out."""
    place = {task.id: number for number, task in enumerate(table.plan.tasks)}
    solvable = {task.id: task.solvable for task in table.plan.tasks}
    part_of = parts.by_arm
    mine = [row for row in table.rows if row.arm in part_of]
    mine.sort(key=lambda row: (place[row.task], row.trial))
    measured: dict[Part, list[Run]] = {part: [] for part in Part}
    missing: list[str] = []
    for row in mine:
        part = part_of[row.arm]
        run = _run(row, part, is_solvable=solvable[row.task])
        if run is None:
            missing.append(row.cell)
        else:
            measured[part].append(run)
    return Runs({part: tuple(runs) for part, runs in measured.items()}, tuple(missing))


def _run(row: Row, part: Part, *, is_solvable: bool) -> Run | None:
    governed = row.governed
    if row.oracle is None or row.oracle.correct is None or governed is None:
        return None
    contract = governed.contract
    trial = Trial(
        task=row.task,
        part=part,
        number=row.trial,
        is_solvable=is_solvable,
        oracle_passed=row.oracle.correct,
        claims_success=governed.claims_success,
        terminal=governed.terminal,
        has_contract=contract is not None,
        matches_reference=contract is not None and contract.matches_reference is True,
        is_operational_failure=not row.sessions or not all(map(_ended_well, row.sessions)),
    )
    return Run(trial, row, governed)


def _ended_well(session: SessionReport) -> bool:
    """Say whether the agent ended by itself, in its time, with code 0."""
    return session.exit.is_zero
