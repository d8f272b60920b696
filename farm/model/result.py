"""Results and the records that close a sweep: one hash chain from outcome to seal."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from farm.model.base import Value
from farm.model.digest import Digest
from farm.model.fault import FaultKind
from farm.model.keys import AttemptPlace, attempt_place
from farm.model.names import CellId, SweepId


class ResultStatus(StrEnum):
    """Whether the cell is in the denominator."""

    MEASURED = "measured"
    EXCLUDED = "excluded"


class Result(Value):
    """results/<cell>.json: the settled record of a cell; written once."""

    sweep: SweepId
    plan: Digest
    cell: CellId
    attempt: int
    outcome: Digest
    """Of the bytes of this attempt's outcome.json."""
    fault: FaultKind | None = None

    @property
    def status(self) -> ResultStatus:
        return ResultStatus.MEASURED if self.fault is None else ResultStatus.EXCLUDED


class Opening(Value):
    """open.json: when this edition of a plan was submitted; the deadline counts from here."""

    sweep: SweepId
    plan: Digest
    edition: int
    opened_at: datetime
    submitted_by: str
    shards: Annotated[int, Field(ge=1)] = 1
    """In how many parts it is coordinated, each in its own place."""


class CloseReason(StrEnum):
    """Why a sweep takes no more claims."""

    COMPLETE = "complete"
    CANCELLED = "cancelled"
    DEADLINE = "deadline"
    BREAKER = "breaker"
    BUG = "bug"
    UNFINISHED = "unfinished"
    """A person finalized a sweep that still had open cells."""


class Sealed(Value):
    """One record and its digest."""

    key: str
    """Below the sweep's folder."""
    digest: Digest


class Close(Value):
    """close.json: no new claims after this. Never reopened."""

    sweep: SweepId
    reason: CloseReason
    detail: str = ""
    closed_at: datetime
    shards: tuple[Sealed, ...] = ()
    """Of a sweep in shards: their records."""


class Cancel(Value):
    """cancel.json: a person wants it to end."""

    sweep: SweepId
    reason: str
    cancelled_at: datetime


class Unsettled(StrEnum):
    """Why a planned cell has no result."""

    NEVER_STARTED = "never-started"
    STOPPED = "stopped"
    STILL_RUNNING = "still-running"
    """Its worker had not ended when the grace was over."""


class SettledCell(Value):
    """One planned cell in the settlement: its result by digest, or why there is none."""

    cell: CellId
    result: Digest | None
    attempts: tuple[Sealed, ...] = ()
    """Every claim.json, outcome.json and cleanup.json of the cell that stood at settlement, by key."""
    unsettled: Unsettled | None = None
    """Set when there is no result."""

    @property
    def places(self) -> Iterator[AttemptPlace]:
        """Take the attempts' keys apart; what is none of an attempt is left out."""
        return (place for kept in self.attempts if (place := attempt_place(kept.key)) is not None)


class Settlement(Value):
    """settlement.json: the one record that closes a sweep, in plan order. Written once, final."""

    sweep: SweepId
    plan: Digest
    close: Digest
    cells: tuple[SettledCell, ...]
    workers_settled: bool
    """Whether every lease had ended within the grace."""
    settled_at: datetime


class CleanupRecord(Value):
    """cleanup.json: what the sweep shared and whether it was removed, after the settlement."""

    sweep: SweepId
    settlement: Digest
    complete: bool
    problems: tuple[str, ...] = ()
    cleaned_at: datetime


class Seal(Value):
    """seal.json: the head of the chain."""

    schema_version: Literal[1] = 1
    sweep: SweepId
    records: tuple[Sealed, ...]
    """plan, open, close, settlement, clean-up, verdicts and report files, sorted by key."""
