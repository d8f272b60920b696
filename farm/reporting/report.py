"""The report as a value: report.json is this, and both pages and the terminal's summary show it.

Text from sessions, oracles and errors stands in here cleaned and bounded; None is unknown, never zero.
"""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from pydantic import JsonValue

from farm.gates.contamination import Contamination
from farm.gates.health import HealthStatus
from farm.gates.paired.noise import Noise
from farm.gates.paired.operating import Operating
from farm.gates.reliability.told import Findings
from farm.model import (
    ArmRole,
    Artifact,
    Check,
    CloseReason,
    Decision,
    Digest,
    Direction,
    FaultKind,
    Measured,
    Number,
    Preregistration,
    SweepId,
)
from farm.model.base import Value
from farm.reporting.medians import TaskLine
from farm.reporting.routing import Crossing, LabelLine
from farm.reporting.savings import SavingLine


class CellState(StrEnum):
    """How a planned cell stands in the report."""

    CORRECT = "correct"
    WRONG = "wrong"
    UNJUDGED = "unjudged"
    """There is evidence, but the oracle could not be completed."""
    EXCLUDED = "excluded"
    """Settled without evidence: a fault."""
    UNSETTLED = "unsettled"
    """No result at all."""


class Total(Value):
    """A sum over the cells that said a number, beside how many did and did not."""

    total: int | None
    """None: no cell said it."""
    known: int
    unknown: int


class Spend(Value):
    """Known cost, and how many cells' cost is not, or not all, known; it is never guessed."""

    usd: Decimal | None
    known: int
    unknown: int


class ArmLine(Value):
    """One arm's numbers over all its cells."""

    name: str
    role: ArmRole
    agent: str
    cells: int
    measured: int
    excluded: int
    unsettled: int
    health: HealthStatus
    health_words: str
    """The same with its counts."""
    judged: int
    """Measured cells whose oracle was completed: the denominator of `correct`."""
    correct: int
    verified: int
    """Measured cells whose visible check ran: the denominator of `verify_passed`."""
    verify_passed: int
    correct_low: float | None
    """Wilson 95 % interval of correct / judged."""
    correct_high: float | None
    cost: Spend
    """Of every attempt, whether or not it counts."""
    uncounted_usd: Decimal | None = None
    """The known part of `cost` that attempts without a measurement spent; None: there was none, or it is unknown."""
    agents_cost: Spend | None = None
    """What the agents themselves say, where `cost` is by the plan's prices."""
    cost_difference_usd: Decimal | None = None
    """How much more the agents say, over the cells of which both are known; None: no such cell."""
    input_tokens: Total
    output_tokens: Total
    tool_calls: Total
    median_duration_s: float | None


class MetricLine(Value):
    """One metric of one task under one arm."""

    metric: str
    unit: str
    direction: Direction
    task: str
    arm: str
    measured: int
    unknown: int
    mean: Number | None
    median: Number | None
    least: Number | None
    most: Number | None


class GateLine(Value):
    """One gate's verdict; its own tables stand in the verdict's record."""

    gate: str
    version: str
    decision: Decision
    summary: str
    checks: tuple[Check, ...]
    record: str
    """The verdict's key below the sweep's folder."""
    operating: Operating | None = None
    """How often its rule errs on sweeps like this one."""


class AttemptLine(Value):
    """One attempt of a cell, kept whatever became of it."""

    attempt: int
    counted: bool
    fault: FaultKind | None
    detail: str
    """The fault in one line, or what else there is to say."""
    host: str | None
    started_at: datetime | None
    ended_at: datetime | None
    late: bool = False
    cost_usd: Decimal | None = None
    record: str | None
    """The outcome's key below the sweep's folder; None: claimed, and never heard of again."""
    artifacts: tuple[Artifact, ...] = ()


class CellLine(Value):
    """One planned cell."""

    cell: str
    task: str
    arm: str
    trial: int
    state: CellState
    problem: str
    """Why there is no right answer, in one line; empty for a correct cell."""
    answer: str | None
    """The last session's final answer, cleaned and cut."""
    metrics: tuple[Measured, ...]
    cost_usd: Decimal | None
    """Of all its attempts; None when that of one is unknown."""
    duration_s: float | None
    attempts: tuple[AttemptLine, ...]


class SandboxFacts(Value):
    """What enforced the containment, and in how many attempts."""

    facts: dict[str, JsonValue]
    attempts: int


class Provenance(Value):
    """Where the numbers come from."""

    plan: Digest
    opening: Digest
    settlement: Digest
    farm_version: str
    edition: int
    submitted_by: str
    sandbox: str
    sandboxes: tuple[SandboxFacts, ...]
    warnings: tuple[str, ...]
    """What a reader must know before believing the numbers."""
    hosts: tuple[str, ...]
    opened_at: datetime
    closed_at: datetime
    settled_at: datetime
    close: CloseReason
    close_detail: str
    workers_settled: bool
    cleanup_complete: bool
    cleanup_problems: tuple[str, ...]
    preregistration: Preregistration | None = None
    """None: nothing was fixed beforehand, and nothing was cut."""


class Report(Value):
    """report.json."""

    schema_version: Literal[1] = 1
    sweep: SweepId
    name: str
    decision: Decision | None
    """The worst of the gates' decisions; None: the sweep has no gate."""
    tasks: tuple[str, ...]
    skipped: tuple[str, ...]
    """Expensive tasks of the sweep file, which nobody asked for."""
    trials: int
    gates: tuple[GateLine, ...]
    arms: tuple[ArmLine, ...]
    task_lines: tuple[TaskLine, ...]
    savings: tuple[SavingLine, ...]
    labels: tuple[LabelLine, ...]
    """Of tasks that have a label; in the order in which the tasks name them."""
    crossings: tuple[Crossing, ...]
    """Where along the labels an arm begins to beat another."""
    contaminations: tuple[Contamination, ...]
    """Arms of one task and trial that left the same change."""
    noise: tuple[Noise, ...] = ()
    """What controls that are their incumbent once more differ by."""
    reliability: Findings | None = None
    """What the gate `reliability` found; None: the plan has no such gate, or it had nothing to judge."""
    metrics: tuple[MetricLine, ...]
    cells: tuple[CellLine, ...]
    provenance: Provenance
