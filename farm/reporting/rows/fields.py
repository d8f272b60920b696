"""The fields of an exported row, in the workflow benchmark's names and its order. None is unknown, and never zero."""

from datetime import datetime

from pydantic import Field, JsonValue

from farm.gates.promotion.taxonomy import Health, RowKind, Streak
from farm.model import ArmRole, Artifact, Digest, FaultKind, Measured, Number, ScopeFinding, SweepId, Unsettled, Value


class Identity(Value):
    """Which cell it is."""

    task: str
    label: str | None = Field(serialization_alias="class")
    arm: str
    run: int
    """From 0."""


class SessionTrouble(Value):
    """How a session failed."""

    subtype: str
    returncode: int | None
    process_state: str
    stderr_tail: str | None = None
    """Of what a session wrote the artifacts hold the whole; a row holds none of it."""
    stdout_tail: str | None = None
    process_detail: str | None
    event_stream_error: str | None


class Ending(Value):
    """What came of it."""

    ok: bool
    """All sessions ended well, and no evidence rule was broken."""
    resolved: bool
    error_kind: RowKind | None
    error_detail: str | SessionTrouble | None


class Spent(Value):
    """What the counted attempt's sessions used, sub-agents included where they went through the cell's door."""

    input_tokens: int | None = None
    """Neither read from a cache nor written to one."""
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    duration_s: float | None = None
    num_turns: int | None = None


class Transcript(Value):
    """One session's stream."""

    path: str
    """Below the store's root."""
    sha256: Digest
    size_bytes: int = Field(serialization_alias="bytes")
    source: str = "parent-captured-stream"


class Told(Value):
    """What the sessions' streams tell."""

    session_ids: tuple[str, ...] = ()
    skill_invoked: bool | None = None
    """None: none was asked for, or nobody can tell."""
    transcript_missing: bool | None = None
    """None: no session ran to a report."""
    transcript_artifacts: tuple[Transcript, ...] = ()
    evidence_diagnostics: tuple[str, ...] = ()
    tool_use_counts: dict[str, int] | None = None
    gitnexus_tool_uses: int | None = None
    plan_produced: bool | None = None
    """True where the arm's program makes none."""


class Checked(Value):
    """What the visible check and the hidden one said."""

    authored_tests_passed: bool | None = None
    authored_test_output: str | None = None
    """The end of it."""
    verify_output: str | None = None
    """The same by its older name."""
    oracle_passed: bool | None = None
    oracle_output: str | None = None
    """A fixed phrase: what a hidden check writes is in no row."""


class ReviewScore(Value):
    """A review's numbers, as its oracle gave them."""

    true_positives: Number | None = None
    false_positives: Number | None = None
    false_negatives: Number | None = None
    precision: Number | None = None
    recall: Number | None = None
    f1: Number | None = None
    expected_weight: Number | None = None
    matched_weight: Number | None = None
    false_positive_weight: Number | None = None
    weighted_precision: Number | None = None
    weighted_recall: Number | None = None
    weighted_f1: Number | None = None
    blocker_recall: Number | None = None
    severity_accuracy: Number | None = None
    category_accuracy: Number | None = None
    grounded_evidence: Number | None = None
    verdict_correct: bool | None = None
    clean_control: bool | None = None
    clean_pass: bool | None = None


class Churned(Value):
    """How much was changed."""

    diff_files: int | None = None
    diff_insertions: int | None = None
    diff_deletions: int | None = None


class Provenance(Value):
    """Where the row comes from; every row says so, whatever became of its cell."""

    model: str | None
    benchmark_model: str | None
    proposer_model: str | None = None
    effort: str | None
    task_ref: str | None = None
    """The plan pins the commit, and not by which name it was found."""
    task_base_sha: str
    sanitized_task_sha: str | None = None
    variant_head_sha: str | None = None
    """A workspace has no commit of its own; `farm.workspace_before` is its digest."""
    task_prompt_digest: Digest
    skill_digest: Digest | None
    """Of the arm's assets that are no plug-ins."""
    candidate_overlay_digest: Digest | None
    oracle_digest: Digest
    oracle_command_digest: Digest
    oracle_manifest_digest: Digest | None
    """Of the hidden files."""
    task_asset_snapshot_digest: Digest | None = None
    task_asset_manifest_digest: Digest | None = None
    sandbox_dependency_content_digest: Digest | None = None
    sandbox_dependency_manifest_digest: Digest | None = None
    sanitized_graph_snapshot_digest: Digest | None = None
    sanitized_graph_manifest_digest: Digest | None = None
    ce_plugin_version: str | None = None
    """Of the arm's plug-in, where it has one and no other."""
    ce_plugin_manifest_digest: Digest | None = None
    runtime_digest: Digest | None = None
    sandbox_backend: str
    recorded_at: datetime
    """When the counted attempt ended, else when the sweep was settled."""
    reused: bool
    reused_from_recorded_at: datetime | None = None


class Ours(Value):
    """What the benchmark has no name for."""

    sweep: SweepId
    plan: Digest
    farm_version: str
    cell: str
    role: ArmRole
    trial: int
    lock: Digest
    """Of everything that determines the measurement."""
    attempt: int | None
    """Which one counts."""
    attempts: int
    host: str | None
    primary_kind: RowKind | None
    """Whatever became of the clean-up; None: there is no result."""
    is_valid: bool
    streak: Streak
    health: Health
    is_reusable: bool
    is_shown: bool
    fault: FaultKind | None
    unsettled: Unsettled | None
    spent_usd: float | None
    """By all attempts together."""
    workspace_before: Digest | None
    workspace_after: Digest | None
    scope: ScopeFinding | None
    metrics: dict[str, Measured]
    artifacts: tuple[Artifact, ...]


class Line(Value):
    """One row, as its parts; each part's fields stand beside the others', and ours below `farm`."""

    identity: Identity
    ending: Ending
    spent: Spent
    told: Told
    checked: Checked
    review_score: ReviewScore | None
    review_evidence_valid: bool | None
    """None: the task asks for no review, or nothing was begun."""
    review_artifact: str | None
    """Below the store's root."""
    churned: Churned
    provenance: Provenance
    ours: Ours

    def document(self) -> dict[str, JsonValue]:
        """Give the row's JSON object."""
        told = (self.identity, self.ending, self.spent, self.told, self.checked)
        score = self.review_score or ReviewScore()
        return {
            **{name: value for part in told for name, value in _document(part).items()},
            "review_score": None if self.review_score is None else _document(self.review_score),
            "review_evidence_valid": self.review_evidence_valid,
            **{f"review_{name}": value for name, value in _document(score).items()},
            "review_artifact": self.review_artifact,
            **_document(self.churned),
            **_document(self.provenance),
            "farm": _document(self.ours),
        }


def _document(part: Value) -> dict[str, JsonValue]:
    document: dict[str, JsonValue] = part.model_dump(mode="json", by_alias=True)
    return document
