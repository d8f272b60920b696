"""What a report says of cells that an earlier sweep measured."""

import json
from datetime import timedelta
from decimal import Decimal

from farm.finalizer.finalize import read_finalized
from farm.reporting.build import build
from farm.reporting.durations import expected_durations
from farm.reporting.rows import row_lines
from farm.testing.clock import START
from tests.builders.reusing import Measured, measure, reuse, taking_over

NOTE = "2 of 6 cells were measured before, the first on 2026-01-01, and taken over (2 from "


def again() -> Measured:
    first = measure()
    plan = taking_over(first.plan, reuse(first.plan, first.source), first.store)
    return measure(plan, first.store, at=START + timedelta(days=1))


def test_their_money_is_told_apart_and_is_in_no_sum() -> None:
    second = again()
    report = build(read_finalized(second.sweep, second.store.records).report)
    (note,) = (one for one in report.provenance.warnings if one.startswith(NOTE))
    assert note.endswith("They had cost $0.50; that was not spent again and is in no sum.")
    old, new = report.arms
    assert (old.cost.usd, new.cost.usd) == (Decimal("0.25"), Decimal("0.75"))
    assert (old.measured, old.tool_calls.unknown) == (3, 1)


def test_the_next_durations_are_not_learned_from_them_twice() -> None:
    second = again()
    table = read_finalized(second.sweep, second.store.records).report.table
    assert [known.n for known in expected_durations([table])["task"]["old"]] == [1]


def test_an_exported_row_says_when_it_was_first_measured() -> None:
    second = again()
    report = read_finalized(second.sweep, second.store.records).report
    rows = [json.loads(line) for line in row_lines(report, second.store.blobs.get)]
    told = {row["farm"]["cell"]: row["reused_from_recorded_at"] for row in rows if row["reused"]}
    assert told == {
        cell: origin.measured_at.isoformat().replace("+00:00", "Z") for cell, origin in second.plan.reused.items()
    }
