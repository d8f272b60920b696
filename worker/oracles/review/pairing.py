"""Which finding meets which label: as many as can be, or the greatest weighted F1."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from farm.stats.matching import Edge, best_matching
from worker.oracles.review.document import Finding, Label

_CHUNK = 40
"""Places that one criterion tells apart, as powers of two."""


@dataclass(frozen=True, slots=True)
class Match:
    """A finding and the label that it meets."""

    finding: Finding
    label: Label

    @property
    def weight(self) -> int:
        """Give the smaller weight of the two: what is reported as less than it is counts as less."""
        return min(self.finding.severity.weight, self.label.severity.weight)

    @property
    def is_blocking(self) -> bool:
        return self.finding.severity.is_blocking and self.label.severity.is_blocking


Pairing = Callable[[Sequence[Finding], Sequence[Label]], tuple[Match, ...]]


def largest(findings: Sequence[Finding], labels: Sequence[Label]) -> tuple[Match, ...]:
    """Match as many as can be; among those, by equal categories, equal severities, near starts, short labels.

    A finding may meet a label of the same path whose lines overlap its own. Each criterion is a sum over the matches:
    most equal categories, most equal severities, least distance of the starts, least span of the labels; then the
    labels that come first by path, category and start. What that leaves open is decided by the greatest matched
    weight, the most matches that block, and the findings that come first. The order of either list does not matter.
    """
    return _matched(findings, labels, lambda _: ())


def weighted_optimal(findings: Sequence[Finding], labels: Sequence[Label]) -> tuple[Match, ...]:
    """Match for the greatest weighted F1, however many matches that takes; then as `largest` does.

    It is 2M / (M + S + L): matched weight, weight of the findings that meet no label, weight of the labels. Variant:
    Dinkelbach's iteration (1967, Management Science 13, 492-498), exact: each step matches for the greatest
    2M - r (M + S + L), r being the last step's ratio, until no ratio is greater.
    """
    matches = largest(findings, labels)
    ratio = _ratio(matches, findings, labels)
    while True:
        better = _matched(findings, labels, _Gain(ratio))
        found = _ratio(better, findings, labels)
        if found <= ratio:
            return better
        ratio = found


@dataclass(frozen=True, slots=True)
class _Gain:
    """What a match adds to 2M - r (M + S + L), in whole numbers."""

    ratio: Fraction

    def __call__(self, match: Match) -> tuple[int, ...]:
        part, whole = self.ratio.as_integer_ratio()
        return (-(2 * whole * match.weight - part * (match.weight - match.finding.severity.weight)),)


def _ratio(matches: Sequence[Match], findings: Sequence[Finding], labels: Sequence[Label]) -> Fraction:
    matched = sum(match.weight for match in matches)
    met = sum(match.finding.severity.weight for match in matches)
    whole = matched + sum(one.severity.weight for one in findings) - met + sum(one.severity.weight for one in labels)
    return Fraction(2 * matched, whole) if whole else Fraction(0)


def _matched(
    findings: Sequence[Finding], labels: Sequence[Label], first: Callable[[Match], tuple[int, ...]]
) -> tuple[Match, ...]:
    lefts = sorted(findings, key=lambda finding: finding.content)
    rights = sorted(labels, key=lambda label: label.content)
    by_finding, by_label = _orders(len(lefts)), _orders(len(rights))
    edges = [
        Edge(left, right, (*first(match), *_costs(match, by_label[right], by_finding[left])))
        for left, finding in enumerate(lefts)
        for right, label in enumerate(rights)
        if _may_meet(finding, label)
        for match in (Match(finding, label),)
    ]
    pairs = best_matching(len(lefts), len(rights), edges)
    return tuple(Match(lefts[pair.left], rights[pair.right]) for pair in pairs)


def _may_meet(finding: Finding, label: Label) -> bool:
    return finding.path == label.path and finding.line <= label.line_end and label.line_start <= finding.end_line


def _costs(match: Match, by_label: tuple[int, ...], by_finding: tuple[int, ...]) -> tuple[int, ...]:
    finding, label = match.finding, match.label
    return (
        -1,
        -int(finding.category == label.category),
        -int(finding.severity is label.severity),
        abs(finding.line - label.line_start),
        label.line_end - label.line_start,
        *by_label,
        -match.weight,
        -int(match.is_blocking),
        *by_finding,
    )


def _orders(places: int) -> list[tuple[int, ...]]:
    """Prefer, among sets of places of one size, the one that comes first: each place outweighs all that follow."""
    chunks = range(0, places, _CHUNK)
    return [
        tuple(-(1 << (start + _CHUNK - 1 - place)) if start <= place < start + _CHUNK else 0 for start in chunks)
        for place in range(places)
    ]
