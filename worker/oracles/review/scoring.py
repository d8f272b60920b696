"""How well a review's findings meet the labels: exact fractions, rounded once to six digits."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction

from farm.model import Number
from worker.oracles.review.document import Finding, Label, Review, Verdict
from worker.oracles.review.pairing import Match

_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Score:
    """Counts, weights and shares; None: a share of nothing."""

    true_positives: int
    false_positives: int
    false_negatives: int
    precision: Fraction | None
    recall: Fraction | None
    f1: Fraction | None
    expected_weight: int
    matched_weight: int
    false_positive_weight: int
    weighted_precision: Fraction | None
    weighted_recall: Fraction | None
    weighted_f1: Fraction | None
    blocker_recall: Fraction | None
    """Of labels that block, the share met by a finding whose severity blocks."""
    severity_accuracy: Fraction | None
    category_accuracy: Fraction | None
    grounded_evidence: Fraction | None
    verdict_correct: bool
    clean_control: bool
    """There is nothing to find."""
    clean_pass: bool

    @property
    def is_resolved(self) -> bool:
        """Say whether every label was met, nothing else was reported, and the verdict is the labels' own."""
        return self.false_positives == 0 and self.false_negatives == 0 and self.verdict_correct

    def numbers(self) -> dict[str, Number]:
        """Give what is known by name: shares rounded half to even, claims as 1 and 0; what is unknown is left out."""
        known = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: _number(value) for name, value in known if value is not None}


def score(review: Review, labels: Sequence[Label], matches: Sequence[Match]) -> Score:
    """Score a review by the matches of its findings."""
    findings = review.findings
    hits = len(matches)
    expected = sum(label.severity.weight for label in labels)
    matched = sum(match.weight for match in matches)
    stray = _stray(matches, findings)
    precision, recall = _share(hits, len(findings)), _share(hits, len(labels))
    weighted_precision, weighted_recall = _share(matched, matched + stray), _share(matched, expected)
    verdict_correct = review.verdict is _right_verdict(labels)
    return Score(
        true_positives=hits,
        false_positives=len(findings) - hits,
        false_negatives=len(labels) - hits,
        precision=precision,
        recall=recall,
        f1=_harmonic(precision, recall, has_labels=bool(labels)),
        expected_weight=expected,
        matched_weight=matched,
        false_positive_weight=stray,
        weighted_precision=weighted_precision,
        weighted_recall=weighted_recall,
        weighted_f1=_harmonic(weighted_precision, weighted_recall, has_labels=bool(labels)),
        blocker_recall=_share(
            sum(match.is_blocking for match in matches), sum(label.severity.is_blocking for label in labels)
        ),
        severity_accuracy=_share(sum(match.finding.severity is match.label.severity for match in matches), hits),
        category_accuracy=_share(sum(match.finding.category == match.label.category for match in matches), hits),
        grounded_evidence=_share(sum(bool(finding.evidence.strip()) for finding in findings), len(findings)),
        verdict_correct=verdict_correct,
        clean_control=not labels,
        clean_pass=not labels and not findings and verdict_correct,
    )


def _right_verdict(labels: Sequence[Label]) -> Verdict:
    if not labels:
        return Verdict.APPROVE
    return Verdict.REQUEST_CHANGES if any(label.severity.is_blocking for label in labels) else Verdict.COMMENT


def _stray(matches: Sequence[Match], findings: Sequence[Finding]) -> int:
    met = sum(match.finding.severity.weight for match in matches)
    return sum(finding.severity.weight for finding in findings) - met


def _share(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None


def _harmonic(one: Fraction | None, other: Fraction | None, *, has_labels: bool) -> Fraction | None:
    """Give the harmonic mean; where there is none it is 0 with labels, and unknown on a clean change."""
    if one is not None and other is not None and one + other > 0:
        return 2 * one * other / (one + other)
    return Fraction(0) if has_labels else None


def _number(value: int | Fraction) -> Number:
    return float(round(value, _DIGITS)) if isinstance(value, Fraction) else int(value)
