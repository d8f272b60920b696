"""Matches of findings with labels do not depend on the order in which either is written."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders.worker.reviews import a_finding, a_label, a_review, findings_of, labels_of
from worker.oracles.review.document import Review
from worker.oracles.review.pairing import Pairing, largest, weighted_optimal
from worker.oracles.review.scoring import score

_SEVERITIES = st.sampled_from(["critical", "high", "medium", "low"])
_CATEGORIES = st.sampled_from(["logic", "security"])
_PATHS = st.sampled_from(["a.py", "b.py"])
_STARTS, _SPANS = st.integers(1, 12), st.integers(0, 6)


@st.composite
def written(draw: st.DrawFn, start: str, end: str) -> dict[str, Any]:
    first = draw(_STARTS)
    return {
        "severity": draw(_SEVERITIES),
        "category": draw(_CATEGORIES),
        "path": draw(_PATHS),
        start: first,
        end: first + draw(_SPANS),
    }


def numbered(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**one, "id": str(number)} for number, one in enumerate(found)]


FINDINGS = st.lists(written("line", "end_line"), max_size=7).map(numbered)
LABELS = st.lists(written("line_start", "line_end"), max_size=7).map(numbered)


def scored(findings: list[dict[str, Any]], labels: list[dict[str, Any]], pairing: Pairing) -> dict[str, Any]:
    found, known = findings_of([a_finding(**one) for one in findings]), labels_of([a_label(**one) for one in labels])
    review = Review.model_validate(a_review(*(one.model_dump() for one in found)))
    return score(review, known, pairing(found, known)).numbers()


@settings(max_examples=60)
@given(FINDINGS, LABELS, st.randoms(use_true_random=False), st.sampled_from([largest, weighted_optimal]))
def test_the_order_of_the_documents_changes_no_number(
    findings: list[dict[str, Any]], labels: list[dict[str, Any]], random: Any, pairing: Pairing
) -> None:
    mixed, shuffled = random.sample(findings, len(findings)), random.sample(labels, len(labels))
    renamed = numbered(mixed)  # nor do the names that happen to be given to them

    assert scored(renamed, shuffled, pairing) == scored(findings, labels, pairing)
