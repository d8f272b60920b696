"""Scores of reviews against labels, by the documented vectors."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders.worker.reviews import a_finding, a_label, a_review, findings_of, generated, labels_of
from worker.oracles.review.document import Labels, Review
from worker.oracles.review.pairing import largest, weighted_optimal
from worker.oracles.review.scoring import score

_VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[4] / "data/review-scoring-vectors.json").read_text()
)


def documents(given: dict[str, Any]) -> tuple[Review, Labels]:
    made = given.get("generated")
    if made is not None:
        given = {
            "artifact": a_review(*generated(made["findings"]), verdict=made["verdict"]),
            "labels": {"schema_version": 1, "findings": generated(made["labels"])},
        }
    return Review.model_validate(given["artifact"]), Labels.model_validate(given["labels"])


@pytest.mark.parametrize("vector", _VECTORS, ids=lambda vector: str(vector["id"]))
def test_a_review_scores_as_documented(vector: dict[str, Any]) -> None:
    review, labels = documents(vector["input"])

    found = score(review, labels.findings, largest(review.findings, labels.findings))

    known = {name: value for name, value in vector["expected"].items() if value is not None}
    assert found.is_resolved is known.pop("resolved")
    expected = {name: int(value) if isinstance(value, bool) else value for name, value in known.items()}
    assert found.numbers() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("vector", _VECTORS, ids=lambda vector: str(vector["id"]))
def test_matching_by_weight_never_gives_a_smaller_weighted_f1(vector: dict[str, Any]) -> None:
    review, labels = documents(vector["input"])

    by_weight = score(review, labels.findings, weighted_optimal(review.findings, labels.findings)).weighted_f1
    by_count = score(review, labels.findings, largest(review.findings, labels.findings)).weighted_f1

    assert (by_weight is None) == (by_count is None)
    assert by_weight is None or by_count is None or by_weight >= by_count


def test_matching_by_weight_takes_fewer_pairs_where_they_weigh_more() -> None:
    found = findings_of(
        [
            a_finding(severity="critical", line=1, end_line=50),
            a_finding(id="f2", severity="low", line=10, end_line=12, blocking=False),
        ]
    )
    labels = labels_of(
        [
            a_label(severity="critical", line_start=10, line_end=12),
            a_label(id="L2", severity="low", line_start=40, line_end=41),
        ]
    )

    def pairs(matched: Any) -> set[tuple[str, str]]:
        return {(match.finding.id, match.label.id) for match in matched}

    assert pairs(largest(found, labels)) == {("f1", "L2"), ("f2", "L1")}
    assert pairs(weighted_optimal(found, labels)) == {("f1", "L1")}


def test_among_labels_that_fit_alike_the_first_by_category_is_met_though_another_weighs_more() -> None:
    labels = labels_of(
        [
            a_label(category="b", severity="critical"),
            a_label(id="L2", category="a", severity="low"),
        ]
    )

    (match,) = largest(findings_of([a_finding()]), labels)

    assert match.label.id == "L2"


def test_among_findings_that_fit_alike_the_first_by_content_meets_the_label() -> None:
    lines = {"f1": (2, 4), "f2": (1, 4), "f3": (1, 3), "f4": (1, 4)}
    severities = {"f1": "medium", "f2": "low", "f3": "low", "f4": "medium"}
    found = [
        a_finding(id=name, line=first, end_line=last, severity=severities[name])
        for name, (first, last) in lines.items()
    ]
    spans = ((2, 4), (2, 3), (1, 2))
    labels = [a_label(id=str(n), line_start=first, line_end=last) for n, (first, last) in enumerate(spans)]

    matches = largest(findings_of(found), labels_of(labels))

    assert {match.finding.id for match in matches} == {"f1", "f3", "f4"}


def test_a_share_that_nobody_can_give_is_left_out_and_a_claim_is_one_or_nothing() -> None:
    review = Review.model_validate(a_review(verdict="approve"))

    assert score(review, (), ()).numbers() == {
        "true_positives": 0,
        "false_positives": 0,
        "false_negatives": 0,
        "expected_weight": 0,
        "matched_weight": 0,
        "false_positive_weight": 0,
        "verdict_correct": 1,
        "clean_control": 1,
        "clean_pass": 1,
    }
