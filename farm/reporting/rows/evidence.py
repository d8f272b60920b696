"""What a row says of its sessions and its checks."""

from collections.abc import Iterator
from decimal import Decimal

from pydantic import JsonValue

from farm.gates.promotion.aggregate import tokens_of
from farm.gates.promotion.taxonomy import RowKind, primary_kind
from farm.gates.table import Row
from farm.model import (
    Artifact,
    ExitReason,
    OracleFinding,
    SessionReport,
    known_sum,
)
from farm.reporting.rows.case import Case, ReadBlob, place_of
from farm.reporting.rows.fields import Checked, Churned, ReviewScore, Spent, Told, Transcript

REVIEW = "review"
"""The kind of oracle that scores one, and the role of the artifact that holds it."""
_MOST_OUTPUT = 4000
_GRAPH_TOOLS = "mcp__gitnexus__"
_PLANS = "plan-work"
_ENDED = {ExitReason.SUCCESS, ExitReason.BLANK_ANSWER}


def spent(case: Case) -> Spent:
    """Say what the counted attempt used; where a fault keeps its sessions' reports back, what their doors metered."""
    sessions = case.row.sessions
    if not sessions:
        return _metered(case)
    cost, seconds = case.row.cost_usd, case.row.duration_s
    return Spent(
        input_tokens=known_sum(tokens_of(one).ordinary_input for one in sessions),
        cache_creation_input_tokens=known_sum(tokens_of(one).cache_write for one in sessions),
        cache_read_input_tokens=known_sum(tokens_of(one).cache_read for one in sessions),
        output_tokens=known_sum(tokens_of(one).output for one in sessions),
        cost_usd=_dollars(cost),
        duration_s=None if seconds is None else round(seconds, 1),
        num_turns=known_sum(one.turns for one in sessions),
    )


def _metered(case: Case) -> Spent:
    counted = case.counted
    doors = None if counted is None else counted.doors
    if counted is None or not doors:
        return Spent()
    return Spent(
        input_tokens=known_sum(door.tokens.ordinary_input for door in doors),
        cache_creation_input_tokens=known_sum(door.tokens.cache_write for door in doors),
        cache_read_input_tokens=known_sum(door.tokens.cache_read for door in doors),
        output_tokens=known_sum(door.tokens.output for door in doors),
        cost_usd=_dollars(counted.cost_usd),
    )


def _dollars(cost: Decimal | None) -> float | None:
    return None if cost is None else float(round(cost, 4))


def told(case: Case) -> Told:
    """Say what the sessions' streams tell."""
    sessions = case.row.sessions
    events = [case.artifact(f"session.{session.name}.events") for session in sessions]
    streams = [one for one in case.artifacts if one.role.startswith("session.") and one.role.endswith(".events")]
    counts = _tool_counts(sessions)
    return Told(
        session_ids=tuple(session.session_id for session in sessions if session.session_id is not None),
        skill_invoked=_skill_invoked(case),
        transcript_missing=None in events if sessions else None,
        transcript_artifacts=tuple(map(_transcript, streams)),
        evidence_diagnostics=tuple(_diagnostics(case.row)),
        tool_use_counts=counts,
        gitnexus_tool_uses=None if counts is None else sum(_graph_calls(counts)),
        plan_produced=_has_plan(case),
    )


def _transcript(artifact: Artifact) -> Transcript:
    return Transcript(path=place_of(artifact), sha256=artifact.digest, size_bytes=artifact.size_bytes)


def _graph_calls(counts: dict[str, int]) -> Iterator[int]:
    return (calls for tool, calls in counts.items() if tool.startswith(_GRAPH_TOOLS))


def _tool_counts(sessions: tuple[SessionReport, ...]) -> dict[str, int] | None:
    counts = [session.tool_calls for session in sessions]
    known = [count for count in counts if count is not None]
    if not known or len(known) < len(counts):
        return None
    return {tool: sum(count.get(tool, 0) for count in known) for tool in sorted(set().union(*known))}


def _diagnostics(row: Row) -> Iterator[str]:
    yield from (f"{session.name}: {session.problem}" for session in row.sessions if session.problem is not None)
    if row.scope is not None:
        yield from (f"changed before the oracle ran: {path}" for path in row.scope.before_oracle)
        yield from (f"changed while the oracle ran: {path}" for path in row.scope.after_oracle)
    yield from (f"{one.name}: {one.problem}" for one in row.metrics.values() if one.problem is not None)


def _skill_invoked(case: Case) -> bool | None:
    """Say whether every session used the skill that it had to; one that did not makes it False."""
    reasons = {session.reason for session in case.row.sessions}
    if ExitReason.SKILL_NOT_INVOKED in reasons:
        return False
    return True if _asks_for_skill(case) and reasons and reasons <= _ENDED else None


def _asks_for_skill(case: Case) -> bool:
    program = case.arm.program.options
    phases = [program, *(phase for phase in program.values() if isinstance(phase, dict))]
    named: list[JsonValue] = [phase.get("skill") for phase in phases]
    return any(name is not None for name in (*named, case.arm.agent.options.get("required_skill")))


def _has_plan(case: Case) -> bool | None:
    if case.kind is RowKind.PLAN_EVIDENCE_INVALID:
        return False
    return True if case.row.sessions or case.arm.program.name != _PLANS else None


def checked(case: Case, read: ReadBlob) -> Checked:
    """Say what the checks said."""
    verify, oracle = case.row.verify, case.row.oracle
    output = None if verify is None else _output(case, read)
    return Checked(
        authored_tests_passed=None if verify is None else verify.exit.is_zero,
        authored_test_output=output,
        verify_output=output,
        oracle_passed=None if oracle is None else oracle.correct,
        oracle_output=_phrase(oracle),
    )


def _output(case: Case, read: ReadBlob) -> str:
    kept = [case.artifact(f"verify.{stream}") for stream in ("stdout", "stderr")]
    return "".join(read(one.digest).decode(errors="replace") for one in kept if one is not None)[-_MOST_OUTPUT:]


def _phrase(oracle: OracleFinding | None) -> str | None:
    if oracle is None or oracle.correct is None:
        return None
    return "hidden oracle passed" if oracle.correct else "hidden oracle failed"


def review_score(case: Case) -> ReviewScore | None:
    """Give a review's numbers; None: there is no score."""
    oracle = case.row.oracle
    if case.task.oracle.kind != REVIEW or oracle is None or not oracle.numbers:
        return None
    claims = {name: bool(oracle.numbers[name]) for name in _CLAIMS if name in oracle.numbers}
    known = {name: number for name, number in oracle.numbers.items() if name in ReviewScore.model_fields}
    return ReviewScore.model_validate({**known, **claims})


_CLAIMS = ("verdict_correct", "clean_control", "clean_pass")


def has_valid_review(case: Case) -> bool | None:
    """Say whether the review is evidence; None: none was asked for, or nobody came so far."""
    if case.task.oracle.kind != REVIEW:
        return None
    if case.row.sessions:
        return review_score(case) is not None
    return False if case.row.fault is not None and primary_kind(case.row) is RowKind.REVIEW_EVIDENCE_INVALID else None


def churned(case: Case) -> Churned:
    """Say how much was changed."""
    churn = case.row.churn
    if churn is None:
        return Churned()
    return Churned(diff_files=churn.files, diff_insertions=churn.added_lines, diff_deletions=churn.removed_lines)
