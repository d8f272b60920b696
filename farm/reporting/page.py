"""Both pages, from one view of the report: HTML that stands alone, and Markdown that any renderer shows alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import assert_never

import jinja2

from farm.gates.table import Table
from farm.model import Check, Decision, Digest, Metric
from farm.model.keys import blob_key
from farm.reporting import plots, text
from farm.reporting.medians import TaskLine
from farm.reporting.numbers import metric_values
from farm.reporting.operating import operating_words
from farm.reporting.reliability import ReliabilityView, reliability_view
from farm.reporting.report import AttemptLine, CellLine, CellState, MetricLine, Report
from farm.reporting.savings import SavingLine
from farm.version import __version__

MOST_CELLS = 2000
"""Cells shown on a page; report.json holds all of them."""
_MOST_CHECKS = 40
_MOST_FAULTS = 200
_MOST_LINES = 400
_MOST_PLOTS = 4
_MOST_STRIPS = 24
_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Square:
    """A cell and its place in the plan."""

    index: int
    cell: CellLine


@dataclass(frozen=True, slots=True)
class ArmSquares:
    """One arm's cells of a task, in order of trial."""

    arm: str
    squares: tuple[Square, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One task's cells."""

    task: str
    rows: tuple[ArmSquares, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing and what it shows."""

    caption: str
    svg: str


@dataclass(frozen=True, slots=True)
class CheckPart:
    """Some checks, shown at once or on demand."""

    title: str
    open: bool
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class FaultLine:
    """An attempt that does not count, or counts as a fault."""

    cell: str
    attempt: AttemptLine


@dataclass(frozen=True, slots=True)
class Page:
    """What both templates show beside the report itself."""

    word: str
    generator: str
    """What drew the page: another version of it may draw other bytes from the same report."""
    scale: str
    style: str
    plots: tuple[Plot, ...]
    checks: tuple[CheckPart, ...]
    tasks: tuple[TaskLine, ...]
    savings: tuple[SavingLine, ...]
    metrics: tuple[MetricLine, ...]
    blocks: tuple[Block, ...]
    cells: tuple[Square, ...]
    faults: tuple[FaultLine, ...]
    more_faults: int
    reliability: ReliabilityView | None
    places: Mapping[str, int]
    """Of the cells that are shown, by name."""


def make_page(report: Report, table: Table) -> Page:
    """Choose and order what the pages show."""
    squares = tuple(Square(index, cell) for index, cell in enumerate(report.cells[:MOST_CELLS]))
    faults = [
        FaultLine(cell.cell, attempt)
        for cell in report.cells
        for attempt in cell.attempts
        if attempt.fault is not None or not attempt.counted
    ]
    return Page(
        word="no verdict" if report.decision is None else decision_word(report.decision).lower(),
        generator=f"cellfarm {__version__}, jinja2 {version('jinja2')}, {plots.DRAWN_BY}",
        scale=_scale(report),
        style=(_TEMPLATES / "style.css").read_text(encoding="utf-8"),
        plots=_plots(report, table),
        checks=_check_parts(report),
        tasks=report.task_lines[:_MOST_LINES],
        savings=report.savings[:_MOST_LINES],
        metrics=report.metrics[:_MOST_LINES],
        blocks=_blocks(report, squares),
        cells=squares,
        faults=tuple(faults[:_MOST_FAULTS]),
        more_faults=max(0, len(faults) - _MOST_FAULTS),
        reliability=None if report.reliability is None else reliability_view(report.reliability),
        places={square.cell.cell: square.index for square in squares},
    )


def _scale(report: Report) -> str:
    def many(count: int, noun: str) -> str:
        return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"

    parts = (many(len(report.tasks), "task"), many(len(report.arms), "arm"), many(report.trials, "trial"))
    took = text.duration_text((report.provenance.closed_at - report.provenance.opened_at).total_seconds())
    product = " \N{MULTIPLICATION SIGN} ".join(parts)
    return f"{product}: {many(len(report.cells), 'cell')} in {took}."


def _check_parts(report: Report) -> tuple[CheckPart, ...]:
    checks = tuple(check for gate in report.gates for check in gate.checks)
    if len(checks) <= _MOST_CHECKS:
        return (CheckPart("", open=True, checks=checks),) if checks else ()
    failed = tuple(check for check in checks if check.decides and check.holds is not True)
    rest = CheckPart(f"All {len(checks)} checks", open=False, checks=checks[:MOST_CELLS])
    first = CheckPart("What does not hold", open=True, checks=failed[:MOST_CELLS])
    return (first, rest) if failed else (rest,)


def _blocks(report: Report, squares: tuple[Square, ...]) -> tuple[Block, ...]:
    found: dict[tuple[str, str], list[Square]] = {}
    for square in squares:
        found.setdefault((square.cell.task, square.cell.arm), []).append(square)
    return tuple(
        Block(
            task,
            tuple(
                ArmSquares(arm.name, tuple(sorted(found[task, arm.name], key=lambda square: square.cell.trial)))
                for arm in report.arms
                if (task, arm.name) in found
            ),
        )
        for task in report.tasks
        if any((task, arm.name) in found for arm in report.arms)
    )


def _plots(report: Report, table: Table) -> tuple[Plot, ...]:
    drawn = [("Correct answers, share with its 95 % interval", plots.correct_plot(report.arms))]
    for metric in table.plan.metrics[:_MOST_PLOTS]:
        strips = _strips(table, metric)
        if len(strips) <= _MOST_STRIPS:
            better = metric.direction.value.replace("_", " ")
            drawn.append(
                (f"{metric.name}, {better}: every cell, and the median", plots.strip_plot(metric.name, strips))
            )
    return tuple(Plot(caption, svg) for caption, svg in drawn if svg)


def _strips(table: Table, metric: Metric) -> list[plots.Strip]:
    several = len(table.plan.tasks) > 1
    strips = []
    for task in table.plan.tasks:
        for series, arm in enumerate(table.plan.arms):
            rows = [row for row in table.rows if row.task == task.id and row.arm == arm.name]
            values = tuple(value for value in metric_values(rows, metric) if value is not None)
            if values:
                strips.append(plots.Strip(f"{task.id} · {arm.name}" if several else arm.name, series, values))
    return strips


def html_page(report: Report, page: Page) -> bytes:
    """Render the page that stands alone: no script, no request, every text escaped."""
    environment = _environment(autoescape=True, finalize=None)
    return _rendered(environment, "report.html.j2", report, page)


def markdown_page(report: Report, page: Page) -> bytes:
    """Render Markdown; every value is escaped, so that no text can leave its table cell."""
    environment = _environment(autoescape=False, finalize=_markdown_value)
    return _rendered(environment, "report.md.j2", report, page)


def _rendered(environment: jinja2.Environment, template: str, report: Report, page: Page) -> bytes:
    body = environment.get_template(template).render(report=report, page=page)
    return (body.strip() + "\n").encode()


def _environment(*, autoescape: bool, finalize: Callable[[object], str] | None) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=autoescape,  # noqa: S701 (Markdown is escaped by its own finalize)
        finalize=finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "blob": blob_link,
        "count": text.count_text,
        "duration": text.duration_text,
        "glyph": state_glyph,
        "holds": _holds_word,
        "instant": text.instant_text,
        "line": text.one_line,
        "money": text.money_text,
        "operating": operating_words,
        "share": text.share_text,
        "size": text.size_text,
        "value": text.value_text,
        "word": decision_word,
    }
    return environment


def _markdown_value(value: object) -> str:
    return text.escape_markdown(str(value))


def blob_link(digest: Digest) -> str:
    """Lead from the report's folder to a blob, in a store that is a folder."""
    return f"../../../{blob_key(digest)}"


def decision_word(decision: Decision) -> str:
    """Say a decision as a headline."""
    match decision:
        case Decision.PASS:
            return "Passed"
        case Decision.FAIL:
            return "Failed"
        case Decision.INCONCLUSIVE:
            return "Inconclusive"
        case _:
            assert_never(decision)


def state_glyph(state: CellState) -> str:
    """Give a cell's state a mark that needs no colour."""
    match state:
        case CellState.CORRECT:
            return "✓"
        case CellState.WRONG:
            return "✗"
        case CellState.UNJUDGED:
            return "?"
        case CellState.EXCLUDED:
            return "!"
        case CellState.UNSETTLED:
            return "\N{EN DASH}"
        case _:
            assert_never(state)


def _holds_word(holds: bool | None) -> str:
    return {True: "holds", False: "does not hold", None: "unknown"}[holds]
