"""What an audit found."""

from dataclasses import dataclass, field

from farm.model import SweepId


@dataclass(frozen=True, slots=True, order=True)
class Flaw:
    """Something that is not what it should be."""

    where: str
    """The record's or blob's key in the store."""
    problem: str


@dataclass(frozen=True, slots=True)
class Audit:
    """What a walk over one sealed sweep found."""

    sweep: SweepId
    flaws: tuple[Flaw, ...]
    uncounted: tuple[str, ...]
    """Keys below the sweep that nothing sealed names: late attempts and the like."""
    unchecked: tuple[Flaw, ...]
    """What could not be computed again here, and why; its digest was checked all the same."""
    records: int
    blobs: int
    suspicions: tuple[str, ...] = ()
    """What is odd among the cells, though every byte is what was sealed."""

    @property
    def is_sound(self) -> bool:
        return not self.flaws


@dataclass(slots=True)
class Notebook:
    """Collects findings along the walk; one problem of one place is written down once."""

    flaws: set[Flaw] = field(default_factory=set)
    unchecked: set[Flaw] = field(default_factory=set)
    suspicions: tuple[str, ...] = ()

    def flaw(self, where: str, problem: str) -> None:
        self.flaws.add(Flaw(where, problem))

    def leave(self, where: str, why: str) -> None:
        self.unchecked.add(Flaw(where, why))
