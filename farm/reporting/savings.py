"""What each arm saves on each task against its incumbent; what it saves on a task that it fails is no saving."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from farm.gates.exact import number
from farm.model import Arm, ArmRole, Number
from farm.model.base import Value
from farm.reporting.medians import TaskLine


class Saving(StrEnum):
    """What a line of savings is worth."""

    EARNED = "earned"
    """Tokens or cost were saved, and every planned cell of the arm is right."""
    FAILED = "saved, and failed"
    """They were saved by an arm that is not right in every planned cell: flagged, and no gain."""
    NONE = "none"
    UNKNOWN = "unknown"
    """Neither tokens nor cost are known of both arms."""


class SavingLine(Value):
    """One arm against its incumbent on one task, by their medians.

    Each share is saved / incumbent's: 0.25 is a quarter less, -1 is twice as much. None: not known of both, or the
    incumbent's is zero.
    """

    task: str
    arm: str
    incumbent: str
    tokens: Number | None
    input_tokens: Number | None
    cached_input_tokens: Number | None
    output_tokens: Number | None
    cost_usd: Number | None
    duration_s: Number | None
    saving: Saving
    note: str
    """Why it is flagged; empty where it is not."""


def incumbents_of(arms: Sequence[Arm]) -> Mapping[str, str]:
    """Say which incumbent each other arm is set against: its own, the nearest written before it, else the first."""
    names = [arm.name for arm in arms if arm.role is ArmRole.INCUMBENT]
    found: dict[str, str] = {}
    nearest = names[0] if names else None
    for arm in arms:
        if arm.role is ArmRole.INCUMBENT:
            nearest = arm.name
        elif nearest is not None:
            found[arm.name] = arm.incumbent or nearest
    return found


def saving_lines(arms: Sequence[Arm], lines: Sequence[TaskLine]) -> tuple[SavingLine, ...]:
    """Set every arm against its incumbent, task by task."""
    by_place = {(line.task, line.arm): line for line in lines}
    incumbents = incumbents_of(arms)
    pairs = ((line, by_place.get((line.task, incumbents.get(line.arm, "")))) for line in lines)
    return tuple(_line(line, incumbent) for line, incumbent in pairs if incumbent is not None)


def _line(line: TaskLine, incumbent: TaskLine) -> SavingLine:
    ours, theirs = line.medians, incumbent.medians
    tokens, cost = _share(ours.tokens, theirs.tokens), _share(ours.cost_usd, theirs.cost_usd)
    saving = _worth(line, tokens, cost)
    return SavingLine(
        task=line.task,
        arm=line.arm,
        incumbent=incumbent.arm,
        tokens=tokens,
        input_tokens=_share(ours.input_tokens, theirs.input_tokens),
        cached_input_tokens=_share(ours.cached_input_tokens, theirs.cached_input_tokens),
        output_tokens=_share(ours.output_tokens, theirs.output_tokens),
        cost_usd=cost,
        duration_s=_share(ours.duration_s, theirs.duration_s),
        saving=saving,
        note=_why(line) if saving is Saving.FAILED else "",
    )


def _share(ours: Number | Decimal | None, theirs: Number | Decimal | None) -> Number | None:
    if ours is None or not theirs:
        return None
    return number((Fraction(theirs) - Fraction(ours)) / Fraction(theirs))


def _worth(line: TaskLine, *shares: Number | None) -> Saving:
    known = [share for share in shares if share is not None]
    if not known:
        return Saving.UNKNOWN
    if max(known) <= 0:
        return Saving.NONE
    return Saving.EARNED if line.is_solved else Saving.FAILED


def _why(line: TaskLine) -> str:
    """Say what keeps the task from being solved; there is something."""
    missing, unjudged, wrong = line.cells - line.measured, line.measured - line.judged, line.judged - line.correct
    parts = [
        f"{count} {what}"
        for count, what in ((wrong, "wrong"), (unjudged, "never judged"), (missing, "without a measurement"))
        if count
    ]
    return f"of {line.cells} cells {', '.join(parts)}"
