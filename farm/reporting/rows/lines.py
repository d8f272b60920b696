"""The rows of a settled sweep and their aggregates as lines of JSON, from the store's records alone."""

import json
from collections.abc import Iterator

from pydantic import JsonValue

from farm.reporting.report_input import ReportInput
from farm.reporting.rows.aggregates import aggregates_of
from farm.reporting.rows.case import Case, ReadBlob, place_of
from farm.reporting.rows.ending import ending
from farm.reporting.rows.evidence import (
    REVIEW,
    checked,
    churned,
    has_valid_review,
    review_score,
    spent,
    told,
)
from farm.reporting.rows.fields import Identity, Line
from farm.reporting.rows.provenance import ours, provenance


def row_lines(report: ReportInput, read: ReadBlob) -> Iterator[str]:
    """Give each planned cell's row as a line of JSON, in plan order; `read` gives what a visible check wrote."""
    return (_as_line(_line(case, read).document()) for case in _cases(report))


def aggregate_lines(report: ReportInput) -> Iterator[str]:
    """Give each task under each arm as a line of JSON, in plan order."""
    return map(_as_line, aggregates_of(_cases(report)))


def _cases(report: ReportInput) -> Iterator[Case]:
    return (Case(report, cell, row) for cell, row in zip(report.plan.cells, report.table.rows, strict=True))


def _as_line(document: JsonValue) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _line(case: Case, read: ReadBlob) -> Line:
    review = case.artifact(REVIEW)
    cell = case.cell
    return Line(
        identity=Identity(task=cell.task, label=case.task.label, arm=cell.arm, run=cell.trial - 1),
        ending=ending(case),
        spent=spent(case),
        told=told(case),
        checked=checked(case, read),
        review_score=review_score(case),
        review_evidence_valid=has_valid_review(case),
        review_artifact=None if review is None else place_of(review),
        churned=churned(case),
        provenance=provenance(case),
        ours=ours(case),
    )
