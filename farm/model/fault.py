"""Faults: why an attempt has no usable evidence, and whose fault it is (architecture, section 5)."""

from enum import StrEnum

from farm.model.base import Value


class FaultKind(StrEnum):
    """What broke. A wrong answer or a limit reached is no fault: it is evidence."""

    TASK = "task"
    ORACLE = "oracle"
    HOST = "host"
    RATE_LIMIT = "rate-limit"
    PROVIDER = "provider"
    ACCESS = "access"
    """A provider refuses this host's key or account: no attempt helps until somebody corrects it."""
    EVIDENCE = "evidence"
    LOST = "lost"
    CANCELLED = "cancelled"
    DEFERRED = "deferred"
    BUG = "bug"


class Owner(StrEnum):
    """Whose fault it is."""

    TASK = "task"
    FARM = "farm"
    PROVIDER = "provider"
    OPERATOR = "operator"


_OWNERS = {
    FaultKind.TASK: Owner.TASK,
    FaultKind.RATE_LIMIT: Owner.PROVIDER,
    FaultKind.PROVIDER: Owner.PROVIDER,
    FaultKind.ACCESS: Owner.OPERATOR,
    FaultKind.CANCELLED: Owner.OPERATOR,
    FaultKind.DEFERRED: Owner.OPERATOR,
}


class Fault(Value):
    """Why an attempt counts for nothing, in one line that names the thing."""

    kind: FaultKind
    detail: str
    retry_after_s: float | None = None
    """What the provider asked us to wait; None when it said nothing."""

    @property
    def owner(self) -> Owner:
        return _OWNERS.get(self.kind, Owner.FARM)

    @property
    def is_open(self) -> bool:
        """Say whether the cell stays open for the next run: such an attempt never becomes a result."""
        return self.kind in {FaultKind.CANCELLED, FaultKind.DEFERRED}
