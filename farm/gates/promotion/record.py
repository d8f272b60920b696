"""`promotion.json`: what a settled sweep says of its candidates, bound to everything that it rests on.

The fields are the workflow benchmark's (its schema 6), and ours below `farm`. A record is read strictly: a text is no
number, a number no boolean, a time without a zone no time.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import (
    AwareDatetime,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    StrictBool,
    StrictStr,
    StringConstraints,
    Tag,
)

from farm.gates.promotion.aggregate import Count
from farm.gates.promotion.decisions import ImplementationDecision, ReviewDecision
from farm.gates.promotion.policy import Efficiency, Least
from farm.gates.promotion.review import METRIC
from farm.model import CandidateOrigin, Decision, Digest, Pin, Preregistration, SweepId
from farm.model.base import Value

LIFE = timedelta(days=90)
"""How long evidence may authorise a change."""


def _written(given: object) -> object:
    """Read what ISO 8601 writes, and no count of seconds."""
    if isinstance(given, datetime):
        return given
    if not isinstance(given, str):
        raise ValueError(f"{given!r} is no time as ISO 8601 writes it, with a zone")  # noqa: TRY004 (pydantic's hook)
    return datetime.fromisoformat(given)


Moment = Annotated[AwareDatetime, BeforeValidator(_written)]


class RunStatus(StrEnum):
    """How the sweep ended."""

    COMPLETE = "complete"
    ABORTED = "aborted"


class OracleFile(Value):
    """One of the hidden check's files."""

    target: Annotated[StrictStr, Field(min_length=1)]
    sha256: Digest
    size: Count


class Binding(Value):
    """One task, pinned."""

    model_config = ConfigDict(populate_by_name=True)

    id: Annotated[StrictStr, Field(min_length=1)]
    label: StrictStr | None = Field(alias="class")
    repo_identity: StrictStr
    ref: StrictStr | None
    prompt_digest: Digest
    setup_digest: Digest | None
    verify_digest: Digest | None
    expensive: StrictBool
    sandbox_copy: tuple[JsonValue, ...]
    sandbox_dependencies: tuple[JsonValue, ...]
    sandbox_dependency_content_digest: Digest
    sandbox_dependency_manifest_digest: Digest
    oracle_digest: Digest
    oracle_command_digest: Digest
    oracle_manifest_digest: Digest
    oracle_files: Annotated[tuple[OracleFile, ...], Field(min_length=1)]
    resolved_sha: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]


class Plugin(Value):
    """The comparator's plug-in."""

    name: StrictStr
    version: StrictStr
    manifest_schema_version: Count
    manifest_digest: Digest
    file_count: Count
    total_bytes: Count


def _work(given: object) -> str:
    """Tell a review's rules and decisions from an implementation's."""
    metric = given.get("metric") if isinstance(given, dict) else getattr(given, "metric", None)
    return "review" if metric == METRIC else "implementation"


class ImplementationRules(Value):
    """Thresholds of an arm that writes code."""

    metric: Efficiency
    min_runs: Count
    min_improvement_pct: Least
    max_task_regression_pct: Least


class ReviewRules(Value):
    """Thresholds of an arm that reviews code."""

    metric: StrictStr
    min_runs: Count
    min_improvement: Least
    tolerance: Least


Rules = Annotated[
    Annotated[ImplementationRules, Tag("implementation")] | Annotated[ReviewRules, Tag("review")], Discriminator(_work)
]
AnyDecision = Annotated[
    Annotated[ImplementationDecision, Tag("implementation")] | Annotated[ReviewDecision, Tag("review")],
    Discriminator(_work),
]


class Bindings(Value):
    """What a promotion is of: each must be today what it was."""

    benchmark_model: StrictStr | None
    proposer_model: StrictStr | None
    effort: StrictStr | None
    candidate_origin: CandidateOrigin
    candidate_overlay_digest: Digest
    target_base_digests: dict[str, Digest]
    """Of the files that the candidate changes, as they were before."""
    required_candidate_arms: tuple[StrictStr, ...]
    selected_tasks: tuple[Binding, ...]
    policy: dict[str, Rules]
    """By candidate."""


class Sealed(Value):
    """The records that it was made of."""

    sweep: SweepId
    plan: Digest
    settlement: Digest
    cleanup: Digest
    seal: Digest
    gate: Pin
    verdict: Decision
    """On all candidates together; what a pilot finds never passes."""
    preregistration: Preregistration | None = None


class Promotion(Bindings):
    """promotion.json."""

    schema_version: Literal[6]
    run_status: RunStatus
    generated_at: Moment
    evidence_expires_at: Moment
    candidate_overlay: StrictStr | None
    ce_plugin: Plugin | None
    decisions: tuple[AnyDecision, ...]
    farm: Sealed | None = None
    """None: another harness made it."""
