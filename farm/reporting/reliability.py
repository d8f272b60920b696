"""The reliability gate's findings as the report shows them: the verdict's own, cleaned."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from farm.gates.reliability import ReliabilityGate
from farm.gates.reliability.told import EffectTold, Findings, Listed, PartTold, RateTold
from farm.model import Verdict
from farm.reporting.text import one_line

_ID = 120


@dataclass(frozen=True, slots=True)
class RateRow:
    """One count, arm by arm."""

    title: str
    rates: Sequence[RateTold]


@dataclass(frozen=True, slots=True)
class EffectRow:
    """One difference between two arms."""

    title: str
    effect: EffectTold | None


@dataclass(frozen=True, slots=True)
class RunList:
    """Runs that a person must look at, and why."""

    title: str
    listed: Listed


@dataclass(frozen=True, slots=True)
class ReliabilityView:
    """What both pages show."""

    found: Findings
    parts: Sequence[PartTold]
    rates: Sequence[RateRow]
    effects: Sequence[EffectRow]
    lists: Sequence[RunList]


def reliability_findings(verdicts: Sequence[Verdict]) -> Findings | None:
    """Read them from the gate's verdict; None when the plan has no such gate, or it had nothing to judge."""
    told = next((one.findings for one in verdicts if one.gate.name == ReliabilityGate.name), None)
    if not told:
        return None
    found = Findings.model_validate(told)
    return found.model_copy(
        update={
            "false_certifications": _clean(found.false_certifications),
            "false_rejections": _clean(found.false_rejections),
            "contradictions": _clean(found.contradictions),
        }
    )


def reliability_view(found: Findings) -> ReliabilityView:
    """Put the findings in the order in which they are read."""
    parts = tuple(found.parts.values())
    effects = found.effects
    return ReliabilityView(
        found=found,
        parts=parts,
        rates=tuple(_rates(parts)),
        effects=(
            EffectRow("false successes, baseline minus model", effects.benefit),
            EffectRow("right by the oracle, model minus baseline", effects.success),
            EffectRow("false rejections, model minus reference", effects.rejection_penalty),
            EffectRow("of those by the governor, model minus reference", effects.terminal_rejection_penalty),
        ),
        lists=(
            RunList("Certified, and wrong", found.false_certifications),
            RunList("Right, and not claimed", found.false_rejections),
            RunList("Claimed, though exhausted", found.contradictions),
        ),
    )


def _rates(parts: Sequence[PartTold]) -> Iterator[RateRow]:
    yield RateRow("right by the oracle", [part.oracle_passed for part in parts])
    yield RateRow("false successes", [part.false_success for part in parts])
    yield RateRow("falsely exhausted", [part.false_exhaustion for part in parts])
    yield RateRow("falsely abstained", [part.false_abstention for part in parts])
    yield RateRow("right, and not claimed", [part.false_rejection for part in parts])
    yield RateRow("falsely exhausted, of contracts", [part.adopted_false_exhaustion for part in parts])
    yield RateRow("falsely abstained, of contracts", [part.adopted_false_abstention for part in parts])
    yield RateRow("contract opened", [part.adoption for part in parts])
    yield RateRow("contract as told", [part.fidelity for part in parts])
    yield RateRow("receipt left", [part.receipts for part in parts])
    yield RateRow("behaved rightly", [part.right for part in parts])
    yield RateRow("tasks of which every run did", [part.stable_tasks for part in parts])


def _clean(listed: Listed) -> Listed:
    """Clean what an agent wrote: its contract's names of checks."""
    runs = (
        run.model_copy(update={"failed_checks": tuple(one_line(one, most=_ID) for one in run.failed_checks)})
        for run in listed.runs
    )
    return listed.model_copy(update={"runs": tuple(runs)})
