"""The workflow benchmark's kinds of rows against our faults and evidence."""

import json
from pathlib import Path
from typing import Any

import pytest

from farm.coordinator.breaker import Breaker
from farm.gates.promotion.taxonomy import STANDINGS, Health, RowKind, Streak, kind_of, kind_of_fault, primary_kind
from farm.gates.table import Row
from farm.model import CheckRun, ExitKind, ExitReason, Fault, FaultKind, OracleFinding, ScopeFinding, Unsettled
from tests.builders.gates import a_row, a_session, an_exit
from tests.builders.sweeps import evidence as an_evidence

_DATA = Path(__file__).parents[3] / "data"
_BREAKER_VECTORS: list[dict[str, Any]] = json.loads((_DATA / "breaker-vectors.json").read_text())
_EVIDENCE_KINDS = (
    RowKind.PLAN_EVIDENCE_INVALID,
    RowKind.IMPLEMENTATION_EVIDENCE_INVALID,
    RowKind.EVIDENCE_UNVERIFIED,
    RowKind.REVIEW_EVIDENCE_INVALID,
)


def faulted(kind: FaultKind, detail: str = "broken") -> Row:
    return a_row(sessions=(), oracle=None, scope=None, fault=Fault(kind=kind, detail=detail))


def test_each_kind_counts_for_what_the_table_says() -> None:
    columns = {
        kind: (standing.is_valid, standing.streak, standing.health, standing.is_reusable, standing.is_shown)
        for kind, standing in STANDINGS.items()
    }

    assert columns == {
        "passed": (True, "resets", "ok", True, True),
        "verify-failed": (True, "resets", "ok", True, True),
        "oracle-failed": (True, "resets", "ok", True, True),
        "oracle-unavailable": (True, "resets", "ok", False, True),
        "no-work-produced": (True, "resets", "ok", True, True),
        "plan-evidence-invalid": (False, "adds", "evidence-failure", False, True),
        "implementation-evidence-invalid": (False, "adds", "evidence-failure", False, True),
        "skill-not-invoked": (True, "adds", "evidence-failure", False, True),
        "evidence-unverified": (False, "adds", "evidence-failure", False, False),
        "review-evidence-invalid": (False, "adds", "evidence-failure", False, True),
        "session-error": (False, "adds", "execution-failure", False, False),
        "infra-error": (False, "adds", "execution-failure", False, False),
        "cleanup-failure": (False, "adds", "execution-failure", False, False),
        "cancelled": (False, "leaves", "execution-failure", False, False),
        "runtime-cap-exhausted": (False, "leaves", "not-started", False, False),
    }


def test_every_kind_stands_in_the_table_and_every_fault_is_one_of_them() -> None:
    assert set(STANDINGS) == set(RowKind)
    assert {kind_of_fault(Fault(kind=kind, detail="x")) for kind in FaultKind} <= set(RowKind)


@pytest.mark.parametrize("kind", RowKind)
def test_a_fault_of_a_kind_is_read_back_as_that_kind(kind: RowKind) -> None:
    for fault in STANDINGS[kind].faults:
        assert kind_of_fault(Fault(kind=fault, detail=f"{kind}: told")) is kind


@pytest.mark.parametrize("kind", _EVIDENCE_KINDS)
def test_an_evidence_fault_is_the_kind_that_its_detail_begins_with(kind: RowKind) -> None:
    assert kind_of(faulted(FaultKind.EVIDENCE, f"{kind}: phase work changed a.py")) is kind


def test_an_evidence_fault_that_names_no_kind_is_unverified_evidence() -> None:
    assert kind_of(faulted(FaultKind.EVIDENCE, "infra-error: a digest differs")) is RowKind.EVIDENCE_UNVERIFIED


def test_a_row_that_is_right_in_everything_has_passed() -> None:
    assert kind_of(a_row()) is RowKind.PASSED


def test_a_failed_visible_check_goes_before_the_hidden_one() -> None:
    failed = CheckRun(exit=an_exit(code=1))

    assert kind_of(a_row(verify=failed, oracle=OracleFinding(correct=False))) is RowKind.VERIFY_FAILED
    assert kind_of(a_row(oracle=OracleFinding(correct=False))) is RowKind.ORACLE_FAILED


def test_39_a_check_that_hangs_is_a_wrong_answer_and_one_that_we_could_not_start_is_ours() -> None:
    hung = CheckRun(exit=an_exit(ExitKind.LIMIT))

    assert kind_of(a_row(verify=hung)) is RowKind.VERIFY_FAILED
    assert kind_of(faulted(FaultKind.ORACLE)) is RowKind.INFRA_ERROR


def test_a_check_that_says_nothing_is_no_wrong_answer() -> None:
    assert kind_of(a_row(oracle=OracleFinding(correct=None, problem="blank"))) is RowKind.ORACLE_UNAVAILABLE


def test_40_a_right_answer_without_work_is_a_kind_of_its_own() -> None:
    idle = OracleFinding(correct=False, answer_error="no-work-produced: nothing but the plan was changed")

    assert kind_of(a_row(oracle=idle)) is RowKind.NO_WORK_PRODUCED


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        (ExitReason.WALL_LIMIT, RowKind.SESSION_ERROR),
        (ExitReason.CRASHED, RowKind.SESSION_ERROR),
        (ExitReason.STREAM_INVALID, RowKind.SESSION_ERROR),
        ("error_max_turns", RowKind.SESSION_ERROR),
        (ExitReason.STOPPED, RowKind.CANCELLED),
        (ExitReason.SKILL_NOT_INVOKED, RowKind.SKILL_NOT_INVOKED),
        (ExitReason.SKILL_UNVERIFIED, RowKind.EVIDENCE_UNVERIFIED),
        (ExitReason.BLANK_ANSWER, RowKind.ORACLE_FAILED),
    ],
)
def test_how_a_session_ended_goes_before_what_it_left(reason: str, kind: RowKind) -> None:
    sessions = (a_session(), a_session(name="second", reason=reason))

    assert kind_of(a_row(sessions=sessions, oracle=OracleFinding(correct=False))) is kind


def test_a_change_outside_the_scope_is_no_wrong_answer() -> None:
    strayed = a_row(scope=ScopeFinding(before_oracle=("b.py",)), oracle=OracleFinding(correct=False))

    assert kind_of(strayed) is RowKind.IMPLEMENTATION_EVIDENCE_INVALID
    assert not STANDINGS[kind_of(strayed)].is_valid


def test_a_failed_clean_up_goes_before_the_primary_kind_which_is_kept() -> None:
    row = a_row(oracle=OracleFinding(correct=False), cleanup_problem="busy")

    assert kind_of(row) is RowKind.CLEANUP_FAILURE
    assert primary_kind(row) is RowKind.ORACLE_FAILED


@pytest.mark.parametrize(
    ("unsettled", "kind"),
    [
        (Unsettled.NEVER_STARTED, RowKind.CANCELLED),
        (Unsettled.STOPPED, RowKind.CANCELLED),
        (Unsettled.STILL_RUNNING, RowKind.INFRA_ERROR),
    ],
)
def test_a_cell_without_a_result_is_cancelled_unless_its_worker_never_ended(
    unsettled: Unsettled, kind: RowKind
) -> None:
    row = a_row(sessions=(), oracle=None, scope=None, unsettled=unsettled, cleanup_problem="nobody said")

    assert kind_of(row) is kind


def test_what_is_unusable_never_resets_the_breaker() -> None:
    resetting = {kind for kind, standing in STANDINGS.items() if standing.streak is Streak.RESETS}

    assert all(STANDINGS[kind].is_valid and STANDINGS[kind].health is Health.OK for kind in resetting)


@pytest.mark.parametrize("reason", [reason for reason in ExitReason if reason is not ExitReason.STOPPED])
def test_the_coordinators_breaker_goes_by_the_table_but_where_a_limit_was_reached(reason: ExitReason) -> None:
    row = a_row(sessions=(a_session(reason=reason),))
    evidence = an_evidence().model_copy(update={"sessions": row.sessions})
    adds = STANDINGS[kind_of(row)].streak is Streak.ADDS

    assert evidence.is_sound is (not adds or reason.endswith("_limit") or reason is ExitReason.LIMIT)


@pytest.mark.parametrize("vector", _BREAKER_VECTORS, ids=lambda vector: str(vector["id"]))
def test_kinds_fold_to_the_documented_trip(vector: dict[str, Any]) -> None:
    usable = {Streak.RESETS: True, Streak.ADDS: False, Streak.LEAVES: None}
    kinds = [RowKind.PASSED if cell["reused"] else RowKind(cell["kind"] or "passed") for cell in vector["cells"]]

    folded = Breaker(streak=vector["limit"]).fold(0, [usable[STANDINGS[kind].streak] for kind in kinds])

    assert folded.tripped_at == vector["trip_index"]
