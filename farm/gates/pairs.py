"""Which arm is set against which, for every gate that compares two."""

from typing import Self

from pydantic import model_validator
from typing_extensions import override

from farm.model import ArmRole, Name, Plan
from farm.model.base import Value


class ArmPair(Value):
    """Two arms of the sweep."""

    candidate: Name
    incumbent: Name

    @model_validator(mode="after")
    def _two_arms(self) -> Self:
        if self.candidate == self.incumbent:
            raise ValueError(f"arm {self.candidate!r} can't be compared with itself")
        return self

    @override
    def __str__(self) -> str:
        return f"{self.candidate} against {self.incumbent}"


def same_arms(plan: Plan) -> tuple[ArmPair, ...]:
    """Set each control against its incumbent where the two are the same arm: what they differ by is noise."""
    incumbents = [arm.name for arm in plan.arms if arm.role is ArmRole.INCUMBENT]
    only = incumbents[0] if len(incumbents) == 1 else None
    controls = [(arm, arm.incumbent or only) for arm in plan.arms if arm.role is ArmRole.CONTROL]
    return tuple(
        ArmPair(candidate=arm.name, incumbent=its)
        for arm, its in controls
        if its is not None and arm.is_like(plan.arm_by_name[its])
    )


def pairs_by_role(plan: Plan) -> tuple[ArmPair, ...]:
    """Set each candidate against the incumbent that it names, or the only one; () when one of them has neither."""
    incumbents = [arm.name for arm in plan.arms if arm.role is ArmRole.INCUMBENT]
    only = incumbents[0] if len(incumbents) == 1 else None
    candidates = [arm for arm in plan.arms if arm.role is ArmRole.CANDIDATE]
    pairs = [(arm.name, arm.incumbent or only) for arm in candidates]
    known = tuple(ArmPair(candidate=name, incumbent=its) for name, its in pairs if its is not None)
    return known if len(known) == len(pairs) else ()
