"""The settled table: what a gate sees of a sweep. Every planned cell has a row; missing is a row that says so."""

from decimal import Decimal

from farm.model import (
    ArmRole,
    CheckRun,
    Churn,
    CloseReason,
    Fault,
    Governed,
    Measured,
    OracleFinding,
    Plan,
    ScopeFinding,
    SessionReport,
    Unsettled,
)
from farm.model.base import Value


class Spent(Value):
    """What all attempts of a cell took in this sweep, whether or not they count."""

    usd: Decimal | None = None
    """None: that of an attempt is unknown."""
    tokens: int | None = None
    known_usd: Decimal = Decimal(0)
    """Of the attempts that say it: so much at least."""
    known_tokens: int = 0


class Row(Value):
    """One planned cell as it settled."""

    cell: str
    task: str
    arm: str
    role: ArmRole
    trial: int
    fault: Fault | None = None
    """Why there is no evidence, when the cell has an excluded result."""
    unsettled: Unsettled | None = None
    """Why there is no result at all."""
    sessions: tuple[SessionReport, ...] = ()
    verify: CheckRun | None = None
    oracle: OracleFinding | None = None
    scope: ScopeFinding | None = None
    churn: Churn | None = None
    metrics: dict[str, Measured] = {}
    cost_usd: Decimal | None = None
    """Of the attempt that counts."""
    spent: Spent = Spent()
    duration_s: float | None = None
    governed: Governed | None = None
    """What the run claimed and how it was governed; None: its program asks for no claim."""
    attempts: int = 0
    reused: bool = False
    """Whether it was measured in an earlier sweep."""
    cleanup_problem: str | None = None
    """Set when the workspace could not be removed, or nobody said that it was."""


class Lifecycle(Value):
    """How the sweep ended, as far as it decides."""

    close: CloseReason
    cleanup_incomplete: bool
    errors: tuple[str, ...] = ()

    @property
    def timed_out(self) -> bool:
        """Say whether the deadline ended it."""
        return self.close is CloseReason.DEADLINE


class Table(Value):
    """What a gate is asked about: rows in plan order."""

    plan: Plan
    lifecycle: Lifecycle
    rows: tuple[Row, ...]
