"""Rows in the workflow benchmark's names, from the records of settled sweeps."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from farm.model import (
    ArmRole,
    CheckRun,
    Churn,
    CopiedAsset,
    Dependency,
    Digest,
    DoorReport,
    Evidence,
    ExitKind,
    Fault,
    FaultKind,
    ModelUse,
    OracleFinding,
    OracleSpec,
    Origin,
    Pin,
    Plan,
    ScopeFinding,
    SessionReport,
    SweepId,
    TokenUse,
    Usage,
    canonical_json,
)
from tests.builders.exported import an_artifact, exported
from tests.builders.gates import a_plan, a_session, an_exit
from tests.builders.sealed import OPENED

_GOLDEN = Path(__file__).parents[3] / "data" / "rows-golden.json"
EVENTS, OUTPUT, REVIEW = b"events", b"3 passed", b"{}"
TOKENS = TokenUse(whole=48_000, ordinary_input=3_000, cache_read=44_000, cache_write=1_000, output=700, reasoning=100)
DOOR = DoorReport(
    provider="house",
    origin="https://models.example",
    is_priced=True,
    models=(ModelUse(model="model-a", requests=2, tokens=TOKENS, cost_usd=Decimal("0.123456")),),
)


def the_plan(oracle: str = "command", trials: int = 1) -> Plan:
    plan = a_plan(("fix",), trials)
    off, on = plan.arms
    options: dict[str, Any] = {"model": "model-a", "effort": "high", "required_skill": "work"}
    arms = (
        off.model_copy(update={"agent": Pin(name="claude-code", version="1", options=options)}),
        on.model_copy(update={"assets": {"skills": Digest.of(b"skills")}, "role": ArmRole.CONTROL}),
    )
    task = plan.tasks[0].model_copy(update={"label": "cross-module", "oracle": OracleSpec(kind=oracle)})
    return plan.model_copy(update={"tasks": (task,), "arms": arms})


def evidence(plan: Plan, *sessions: SessionReport, **changes: Any) -> Evidence:
    made = Evidence(
        lock=plan.lock(plan.cells[0]),
        sandbox={},
        workspace_before=Digest.of(b"before"),
        workspace_after=Digest.of(b"after"),
        sessions=sessions or (a_session(session_id="s-1", tool_calls={"Bash": 2, "mcp__gitnexus__query": 3}),),
        verify=CheckRun(exit=an_exit()),
        oracle=OracleFinding(correct=True),
        scope=ScopeFinding(),
        churn=Churn(files=2, added_lines=10, removed_lines=3, binary_files=0),
    )
    return made.model_copy(update=changes)


def one_row(plan: Plan, **changes: Any) -> Any:
    return exported(plan, {plan.cells[0]: changes}, (EVENTS, OUTPUT, REVIEW))[0]


def measured(*sessions: SessionReport, **changes: Any) -> Any:
    plan = the_plan()
    return one_row(plan, evidence=evidence(plan, *sessions, **changes))


def faulted(kind: FaultKind, detail: str = "the disk is full", **changes: Any) -> Any:
    fault = Fault(kind=kind, detail=detail)
    return one_row(the_plan(), evidence=None, fault=fault, artifacts=(), **changes)


def test_rows_are_what_they_were() -> None:
    plan = the_plan(trials=2)
    one, two, three, _ = plan.cells
    session = a_session(session_id="s-1", door=DOOR, turns=7, tool_calls={"Bash": 2, "mcp__gitnexus__query": 3})
    kept = (an_artifact("session.work.events", EVENTS), an_artifact("verify.stdout", OUTPUT))
    wrong = OracleFinding(correct=False, answer_error="tests/hidden.py::test_x failed")
    attempts: dict[Any, Any] = {
        one: {"evidence": evidence(plan, session), "artifacts": kept},
        two: {"evidence": evidence(plan, oracle=wrong, churn=None), "artifacts": kept[:1]},
        three: {"evidence": None, "fault": Fault(kind=FaultKind.TASK, detail="setup failed"), "artifacts": ()},
    }

    rows = exported(plan, attempts, (EVENTS, OUTPUT))

    for row in rows:  # digests of the whole plan change with its schema, which is not these rows' own
        ours = row["farm"]
        assert ours.pop("plan") == plan.digest
        assert ours.pop("sweep").startswith("demo-")
        assert ours.pop("lock") in {plan.lock(cell) for cell in plan.cells}
        assert row.pop("oracle_digest") == Digest.of(canonical_json(plan.tasks[0].oracle))
    assert rows == json.loads(_GOLDEN.read_text())


def test_every_row_says_where_it_comes_from_whatever_became_of_its_cell() -> None:
    plan = the_plan(trials=2)
    rows = exported(plan, {plan.cells[0]: {"evidence": None, "fault": Fault(kind=FaultKind.TASK, detail="x")}})

    assert [row["error_kind"] for row in rows] == ["infra-error", "cancelled", "cancelled", "cancelled"]
    for row in rows:
        named = ("task_base_sha", "task_prompt_digest", "oracle_digest", "sandbox_backend", "recorded_at")
        assert all(row[name] is not None for name in named)
    assert [(row["model"], row["effort"]) for row in rows] == [("model-a", "high"), (None, None)] * 2


def test_what_a_task_and_an_arm_bring_is_in_the_provenance_by_digest() -> None:
    plan = the_plan()
    task, (off, on) = plan.tasks[0], plan.arms
    files = Digest.of(b"a tar")
    brought = {
        "dependencies": (Dependency(files=files, target="node_modules"),),
        "copies": (CopiedAsset(files=files, target="data"),),
    }
    off = off.model_copy(update={"assets": {"ce": files, "skills": files}, "plugins": {"ce": "1.2.3"}})
    plan = plan.model_copy(update={"tasks": (task.model_copy(update=brought),), "arms": (off, on)})

    row = exported(plan, {})[0]

    manifests = (row["task_asset_manifest_digest"], row["sandbox_dependency_manifest_digest"])
    assert manifests == tuple(
        Digest.of(canonical_json([one.model_dump(mode="json")]))
        for one in (*brought["copies"], *brought["dependencies"])
    )
    assert row["task_asset_snapshot_digest"] == row["sandbox_dependency_content_digest"]
    assert (row["ce_plugin_version"], row["ce_plugin_manifest_digest"]) == ("1.2.3", files)
    assert row["skill_digest"] == Digest.of(canonical_json({"skills": str(files)}))


def test_82_a_row_that_was_taken_over_says_when_it_was_measured() -> None:
    plan = the_plan()
    origin = Origin(sweep=SweepId("old-000000000000.1"), attempt=2, outcome=Digest.of(b"old"), measured_at=OPENED)

    row = one_row(plan, evidence=evidence(plan), origin=origin)

    assert (row["reused"], row["reused_from_recorded_at"]) == (True, "2026-03-04T09:00:00Z")
    assert (row["duration_s"], row["farm"]["spent_usd"]) == (1.5, 0.0)


def test_36_what_nobody_measured_is_null_and_a_measured_nothing_is_zero() -> None:
    unknown = measured(a_session(usage=None, turns=None, cost_usd=None, tool_calls=None))
    zero = measured(a_session(usage=Usage(input_tokens=0, output_tokens=0), turns=0, cost_usd=Decimal(0)))

    names = ("input_tokens", "output_tokens", "cost_usd", "num_turns")
    assert [unknown[name] for name in (*names, "tool_use_counts", "gitnexus_tool_uses")] == [None] * 6
    assert [zero[name] for name in names] == [0, 0, 0, 0]
    assert zero["cache_read_input_tokens"] is None


def test_a_cell_that_was_never_measured_has_no_numbers() -> None:
    row = faulted(FaultKind.TASK)

    names = ("input_tokens", "output_tokens", "cost_usd", "duration_s", "num_turns", "diff_files", "oracle_passed")
    assert {row[name] for name in names} == {None}


def test_a_cell_that_was_to_be_tried_again_tells_the_fault_of_its_last_attempt() -> None:
    row = faulted(FaultKind.HOST)

    assert (row["error_kind"], row["error_detail"]) == ("cancelled", "stopped; attempt 1: host fault: the disk is full")


def test_a_fault_after_paid_sessions_tells_what_their_doors_metered() -> None:
    row = faulted(FaultKind.EVIDENCE, "review-evidence-invalid: session 'review' left no review", doors=(DOOR,))

    assert (row["error_kind"], row["ok"], row["resolved"]) == ("review-evidence-invalid", False, False)
    assert (row["input_tokens"], row["cost_usd"]) == (3_000, 0.1235)


def test_34_a_failed_session_tells_its_end_as_an_object() -> None:
    crashed = a_session(
        reason="crashed", problem="the agent was killed by signal 9", exit=an_exit(ExitKind.SIGNALED, None)
    )

    row = measured(crashed.model_copy(update={"exit": crashed.exit.model_copy(update={"signal": 9})}))

    assert row["error_kind"] == "session-error"
    assert row["error_detail"] == {
        "subtype": "crashed",
        "returncode": -9,
        "process_state": "exited",
        "stderr_tail": None,
        "stdout_tail": None,
        "process_detail": "the agent was killed by signal 9",
        "event_stream_error": None,
    }


def test_30_a_session_at_its_ceiling_is_seen_as_one() -> None:
    at_the_wall = an_exit(ExitKind.LIMIT, None).model_copy(update={"limit": "wall"})

    row = measured(a_session(reason="wall_limit", exit=at_the_wall))

    assert (row["error_kind"], row["error_detail"]["process_state"]) == ("session-error", "timeout")
    assert row["farm"]["is_valid"] is False


def test_32_a_skill_that_was_not_used_is_told_with_score_and_cost() -> None:
    row = measured(a_session(reason="skill-not-invoked", problem="not used", cost_usd=Decimal("0.5"), door=None))

    assert (row["error_kind"], row["skill_invoked"], row["oracle_passed"]) == ("skill-not-invoked", False, True)
    assert row["cost_usd"] == 0.5


@pytest.mark.parametrize(
    ("changes", "kind", "detail"),
    [
        ({"verify": CheckRun(exit=an_exit(code=1))}, "verify-failed", "the visible check ended with code 1"),
        (
            {"oracle": OracleFinding(correct=False, answer_error="SECRET")},
            "oracle-failed",
            "the hidden check says that the answer is wrong",
        ),
        (
            {"oracle": OracleFinding(correct=None, problem="SECRET")},
            "oracle-unavailable",
            "the hidden check was not completed",
        ),
        (
            {"oracle": OracleFinding(correct=False, answer_error="no-work-produced: nothing was changed")},
            "no-work-produced",
            "nothing was changed that counts as work",
        ),
        (
            {"scope": ScopeFinding(before_oracle=("a.py",), after_oracle=("b.py",))},
            "implementation-evidence-invalid",
            "changed outside its scope: a.py, b.py",
        ),
    ],
)
def test_08_a_row_says_what_was_wrong_in_no_word_of_the_hidden_check(
    changes: dict[str, Any], kind: str, detail: str
) -> None:
    row = measured(**changes)

    assert (row["error_kind"], row["error_detail"], row["resolved"]) == (kind, detail, False)
    assert "SECRET" not in json.dumps(row)


def test_a_review_gives_its_score_and_each_number_by_name() -> None:
    plan = the_plan(oracle="review")
    numbers: dict[str, Any] = {"true_positives": 1, "weighted_f1": 0.5, "verdict_correct": 1, "clean_control": 0}
    found = evidence(plan, oracle=OracleFinding(correct=False, numbers=numbers))

    row = one_row(plan, evidence=found, artifacts=(an_artifact("review", REVIEW),))

    assert (row["review_score"]["weighted_f1"], row["review_weighted_f1"], row["review_recall"]) == (0.5, 0.5, None)
    assert (row["review_verdict_correct"], row["review_clean_control"]) == (True, False)
    assert (row["review_evidence_valid"], row["error_kind"]) == (True, "oracle-failed")
    digest = Digest.of(REVIEW)
    assert row["review_artifact"] == f"blobs/sha256/{digest[:2]}/{digest}"


def test_a_review_that_is_none_is_invalid_evidence_and_one_that_was_never_begun_is_unknown() -> None:
    plan = the_plan(oracle="review", trials=2)
    broken = Fault(kind=FaultKind.EVIDENCE, detail="review-evidence-invalid: it was never written")
    late = evidence(plan, a_session(reason="wall_limit"), oracle=OracleFinding(correct=None, problem="no review"))
    attempts: dict[Any, Any] = {
        plan.cells[0]: {"evidence": None, "fault": broken},
        plan.cells[1]: {"evidence": late},
        plan.cells[2]: {"evidence": None, "fault": Fault(kind=FaultKind.HOST, detail="full")},
    }

    rows = exported(plan, attempts)

    assert [row["review_evidence_valid"] for row in rows] == [False, False, None, None]
    assert {row["review_score"] for row in rows} == {None}


def test_a_task_that_asks_for_no_review_has_no_review() -> None:
    row = measured()

    assert {name: row[name] for name in row if name.startswith("review_") and row[name] is not None} == {}


def test_tokens_and_sums_are_over_all_sessions_of_the_cell() -> None:
    plan = a_session(name="plan", session_id="s-1", turns=2, tool_calls={"Read": 1}, cost_usd=Decimal("0.10"))
    work = a_session(name="work", session_id="s-2", turns=3, tool_calls={"Read": 2, "Bash": 1}, cost_usd=Decimal("0.2"))

    row = measured(plan, work)

    assert (row["session_ids"], row["num_turns"], row["cost_usd"]) == (["s-1", "s-2"], 5, 0.3)
    assert row["tool_use_counts"] == {"Bash": 1, "Read": 3}
    assert row["transcript_missing"] is True  # the second one's stream was not kept
