"""A fault of the table: where it strikes, and how the sweep is to end."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.builders.auditor import Audited
from tests.faults.invariants import Expected
from tests.faults.sweep import Shape, Sweep


@dataclass(frozen=True)
class Struck:
    """What stood when the fault struck, and what is to come of it."""

    seen: Audited | None = None
    expected: Expected = field(default_factory=Expected)
    close: str = "complete"
    code: int = 0
    """Of `farm finalize`."""


Strike = Callable[[Sweep], Struck]


@dataclass(frozen=True)
class Fault:
    """One row of the table, or one kind of it."""

    number: int
    name: str
    strike: Strike
    shape: Shape = field(default_factory=Shape)

    @property
    def id(self) -> str:
        return f"{self.number:02d}-{self.name}"
