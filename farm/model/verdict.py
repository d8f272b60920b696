"""Verdicts: what a gate says, each check with operator, threshold and observed value."""

from enum import StrEnum

from pydantic import Field, JsonValue

from farm.model.arm import Pin
from farm.model.base import Value, is_none
from farm.model.digest import Digest
from farm.model.names import SweepId
from farm.model.preregistration import Preregistration


class Decision(StrEnum):
    """What a gate decides."""

    PASS = "pass"  # noqa: S105 (a decision, not a password)
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class Check(Value):
    """One comparison: `observed operator threshold`. `holds` is None when the gate lacks what it needs."""

    name: str
    subject: str
    """What it was asked of: a task, an arm, the whole sweep."""
    operator: str
    threshold: JsonValue
    observed: JsonValue
    holds: bool | None
    decides: bool = True
    """False for what is reported but never decides."""
    note: str = ""


class Verdict(Value):
    """verdicts/<gate>.json: pure in the settlement's bytes and the policy; recomputing gives the same bytes."""

    sweep: SweepId
    settlement: Digest
    cleanup: Digest
    gate: Pin
    """Name, version and policy."""
    decision: Decision
    summary: str
    """One sentence that a person can act on."""
    checks: tuple[Check, ...]
    findings: dict[str, JsonValue] = {}
    """The gate's own tables."""
    preregistration: Preregistration | None = Field(default=None, exclude_if=is_none)
    """The plan's."""
