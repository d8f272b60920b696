"""The protocol of a gate. Plug-ins of the group `farm.gates` keep it; the class itself takes no arguments."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from farm.gates.table import Table
from farm.model import Check, Decision, Digest, Pin, Preregistration, SweepId, Verdict
from farm.model.base import Value


class Judgement(Value):
    """What a gate found, before it is bound to a settlement as a Verdict."""

    decision: Decision
    summary: str
    checks: tuple[Check, ...]
    findings: dict[str, JsonValue] = {}


@dataclass(frozen=True, slots=True)
class Basis:
    """The records that a judgement rests on."""

    sweep: SweepId
    settlement: Digest
    cleanup: Digest
    preregistration: Preregistration | None = None
    """The plan's."""

    def verdict(self, pin: Pin, judgement: Judgement) -> Verdict:
        """Bind a judgement by the pinned policy to the records. What passes in a pilot is inconclusive."""
        pilot = None if self.preregistration is None else self.preregistration.pilot
        if pilot is not None and judgement.decision is Decision.PASS:
            summary = f"a pilot never passes ({pilot.words}): {judgement.summary}"
            judgement = judgement.model_copy(update={"decision": Decision.INCONCLUSIVE, "summary": summary})
        return Verdict(
            sweep=self.sweep,
            settlement=self.settlement,
            cleanup=self.cleanup,
            gate=pin,
            decision=judgement.decision,
            summary=judgement.summary,
            checks=judgement.checks,
            findings=judgement.findings,
            preregistration=self.preregistration,
        )


class Gate(Protocol):
    """A pure rule: the same table and policy give the same judgement, byte for byte."""

    name: str
    version: str

    def policy(self, options: dict[str, JsonValue], tasks: tuple[str, ...]) -> dict[str, JsonValue]:
        """Check options and fill in the defaults that the plan will pin; raise SpecError naming what is wrong."""
        ...

    def judge(self, table: Table, policy: dict[str, JsonValue]) -> Judgement:
        """Decide. Missing is never zero: a gate that lacks what it needs is inconclusive, or fails, and says what."""
        ...


GateSource = Callable[[str], Gate]
"""Give the gate of a name; SpecError when it is not installed."""


@runtime_checkable
class NeedsMetrics(Protocol):
    """A gate that reads declared metrics says which, so that planning refuses a sweep that lacks one."""

    def needed_metrics(self, policy: dict[str, JsonValue]) -> tuple[str, ...]:
        """Name the metrics that judging by `policy` reads."""
        ...


@runtime_checkable
class NeedsNumbers(Protocol):
    """A gate that reads what needs no declaring, besides answers, and so can't be played by answers alone."""

    def needed_number(self, policy: dict[str, JsonValue]) -> str:
        """Name the number that judging by `policy` reads."""
        ...
