"""Evolutions: files that a proposer changes, generation by generation, each change tried before it is taken.

A generation is two ordinary sweeps: one of a single cell, whose session proposes, and the
benchmark of what it proposed.
"""

from enum import StrEnum
from typing import Annotated, Literal, NewType

from pydantic import AwareDatetime, Field

from farm.model.arm import Pin
from farm.model.base import Value
from farm.model.digest import Digest
from farm.model.names import Name, PlainPath, SweepId

EvolutionId = NewType("EvolutionId", str)
"""`<name>-<12 hex of the sweep file's digest>.<edition>`: the folder of one evolution in the store."""


def evolution_id(name: str, spec: Digest, edition: int) -> EvolutionId:
    """Name the `edition`-th evolution (from 1) of the sweep file with digest `spec`."""
    return EvolutionId(f"{name}-{spec[:12]}.{edition}")


class CandidateOrigin(StrEnum):
    """Who wrote a candidate's files."""

    PROPOSER = "model-proposer"
    MANUAL = "manual-initial-overlay"


class Target(Value):
    """A file that the candidate changes where it lives: the canonical one, or a mirror of it."""

    path: PlainPath
    """Below the root of the repository."""
    base: Digest
    """Of its committed bytes, as the benchmark began."""
    candidate: Digest
    """Of the bytes that it gets; they are a blob."""


class EvolutionPin(Value):
    """Which step of which evolution a benchmark is."""

    evolution: EvolutionId
    generation: Annotated[int, Field(ge=0)]
    origin: CandidateOrigin
    proposer_model: str | None = None
    proposal: SweepId | None = None
    """The sweep whose session proposed it; None: a person brought it."""
    commit: str
    """Of the repository whose files are changed."""
    targets: Annotated[tuple[Target, ...], Field(min_length=1)]


class EvolutionOpening(Value):
    """What an evolution holds on to from its beginning, whatever moves meanwhile."""

    schema_version: Literal[1] = 1
    evolution: EvolutionId
    spec: Digest
    """Of the sweep file."""
    commit: str
    """Of the repository whose files are evolved."""
    commits: dict[Name, str]
    """Of each task's repository."""
    generations: Annotated[int, Field(ge=1)]
    opened_at: AwareDatetime
    opened_by: str


class Step(StrEnum):
    """The records of a generation, in their order."""

    PROPOSAL = "proposal"
    CANDIDATE = "candidate"
    BENCHMARK = "benchmark"
    DECISION = "decision"


class SweepStep(Value):
    """A generation's sweep, of either kind, recorded before its first cell is paid for."""

    sweep: SweepId


class Candidate(Value):
    """What came of a proposal: frozen files, or why there are none."""

    origin: CandidateOrigin
    files: Digest | None
    """A tar blob of the changed files; None: nothing that may be tried."""
    proposal: Digest | None = None
    """The proposer's own words."""
    proposer: Pin | None = None
    complaints: tuple[str, ...] = ()


class Ruling(StrEnum):
    """What the benchmark says of a candidate."""

    PROMOTE = "promote"
    KEEP = "keep-incumbent"
    INSUFFICIENT = "insufficient-evidence"


class GenerationDecision(Value):
    """How a generation ended."""

    ruling: Ruling
    sweep: SweepId
    seal: Digest
    reasons: tuple[str, ...]


class EvolutionEndReason(StrEnum):
    """Why an evolution is over."""

    PROMOTED = "promoted"
    EXHAUSTED = "exhausted"
    """No generation's candidate was promoted."""
    STOPPED = "stopped"
    """A sweep was cut short, or no proposal came of a session: what follows would not be decided by evidence."""


class EvolutionEnd(Value):
    """The last record of an evolution."""

    reason: EvolutionEndReason
    generation: Annotated[int, Field(ge=0)]
    detail: str
    ended_at: AwareDatetime
