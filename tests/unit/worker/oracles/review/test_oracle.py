"""The oracle `review`: what it makes of an artifact, and of none."""

import json
from dataclasses import replace
from typing import Any

import pytest

from farm.errors import SpecError
from farm.model import ExitReason, SessionReport
from tests.builders.worker.oracles import DONE, Room
from tests.builders.worker.reviews import a_finding, a_label, a_review
from worker.oracles.review import ReviewOracle
from worker.phases import PhaseError
from worker.session import ArtifactProblem

ONE_LABEL = {"labels": {"schema_version": 1, "findings": [a_label()]}}


def asked(artifact: bytes | ArtifactProblem, options: dict[str, Any] | None = None, reason: str = "success") -> Any:
    room = Room()
    room.artifacts["review"] = artifact
    session = SessionReport(name="review", exit=DONE, reason=reason)
    return ReviewOracle(options or ONE_LABEL).find(replace(room.request(), sessions=(session,)))


def written(*findings: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps(a_review(*findings, **changes)).encode()


def test_a_review_that_meets_every_label_is_right_and_gives_its_numbers() -> None:
    found = asked(written(a_finding(), verdict="request_changes"))

    assert (found.correct, found.answer_error, found.problem) == (True, None, None)
    assert (found.numbers["weighted_f1"], found.numbers["blocker_recall"]) == (1.0, 1.0)


def test_a_score_of_nothing_is_a_measured_wrong_answer_that_tells_no_label() -> None:
    found = asked(written(a_finding(path="src/other.ts"), verdict="request_changes"))

    assert (found.correct, found.numbers["weighted_f1"]) == (False, 0.0)
    assert found.answer_error == "the review is not what the labels ask for"


def test_the_matching_by_weight_is_chosen_by_name() -> None:
    findings = [
        a_finding(severity="critical", line=1, end_line=50),
        a_finding(id="f2", severity="low", line=10, end_line=12, blocking=False),
    ]
    labels = [
        a_label(severity="critical", line_start=10, line_end=12),
        a_label(id="L2", severity="low", line_start=40, line_end=41),
    ]
    options: dict[str, Any] = {"labels": {"schema_version": 1, "findings": labels}}
    body = written(*findings, verdict="request_changes")

    assert asked(body, options).numbers["true_positives"] == 2
    assert asked(body, {**options, "matching": "weighted-optimal"}).numbers["true_positives"] == 1


@pytest.mark.parametrize("problem", ArtifactProblem)
def test_19_a_review_that_is_not_there_is_invalid_evidence_and_says_why(problem: ArtifactProblem) -> None:
    with pytest.raises(PhaseError) as broken:
        asked(problem)

    assert str(broken.value) == f"review-evidence-invalid: session 'review' left no review: {problem}"


def test_19_a_review_that_breaks_a_rule_is_invalid_evidence_and_names_it() -> None:
    with pytest.raises(PhaseError, match=r"review-evidence-invalid: .* it is not one JSON document"):
        asked(b"Looks good.")


def test_47_a_failed_session_without_a_review_is_told_once_as_what_it_was_first() -> None:
    found = asked(ArtifactProblem.NEVER_WRITTEN, reason=ExitReason.WALL_LIMIT)

    assert found.correct is None
    assert found.problem == "no review, since session 'review' failed: it was never written"


def test_47_a_skill_that_was_not_used_does_not_save_an_invalid_review() -> None:
    with pytest.raises(PhaseError, match="review-evidence-invalid"):
        asked(ArtifactProblem.EMPTY, reason=ExitReason.SKILL_NOT_INVOKED)


def test_58_each_task_is_scored_against_its_own_labels() -> None:
    clean = {"labels": {"schema_version": 1, "findings": []}}

    assert asked(written(verdict="approve"), clean).correct is True
    assert asked(written(verdict="approve"), ONE_LABEL).correct is False


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "labels: Field required"),
        ({"labels": {"schema_version": 2, "findings": []}}, "labels.schema_version: "),
        ({"labels": {"findings": [a_label(), a_label()]}}, "labels.findings: Value error, the id 'L1' stands twice"),
        ({"labels": {"findings": [a_label(line_end=3)]}}, "line_end 3 is before line_start 10"),
        ({**ONE_LABEL, "matching": "best"}, "matching: "),
    ],
)
def test_wrong_labels_are_refused_before_anything_is_paid(options: dict[str, Any], told: str) -> None:
    with pytest.raises(SpecError) as refused:
        ReviewOracle(options)

    assert told in str(refused.value)
