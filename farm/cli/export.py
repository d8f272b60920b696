"""farm export."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click
from pydantic import JsonValue

from farm import bootstrap
from farm.cli.common import store_option
from farm.cli.finishing import load_gate
from farm.errors import SpecError
from farm.finalizer.exit_code import FAILED, PASSED
from farm.finalizer.finalize import read_finalized
from farm.finalizer.judging import judge_again
from farm.model import SweepId, canonical_json
from farm.ports import Store
from farm.reporting.promotion import objections, promotion_of
from farm.reporting.report_input import ReportInput
from farm.reporting.rows import aggregate_lines, row_lines


@dataclass(frozen=True, slots=True)
class _Settled:
    store: Store
    report: ReportInput


@click.group(name="export", epilog="Example:  farm export rows quickstart-3f9a1c2b4d5e.1 > results.jsonl")
def command() -> None:
    """Give a finalized sweep in a form that other tools read."""


@command.command(name="rows", epilog="Example:  farm export rows quickstart-3f9a1c2b4d5e.1 > results.jsonl")
@click.argument("sweep", type=SweepId)
@store_option
def rows(sweep: SweepId, *, store: str | None) -> None:
    """Print one JSON line for each planned cell, in the workflow benchmark's field names; null is unknown.

    What these names don't cover stands below `farm`. Every line says where it comes from, whatever became of its cell.
    """
    settled = _read(sweep, store)
    _print(row_lines(settled.report, settled.store.blobs.get))


@command.command(name="aggregates", epilog="Example:  farm export aggregates quickstart-3f9a1c2b4d5e.1")
@click.argument("sweep", type=SweepId)
@store_option
def aggregates(sweep: SweepId, *, store: str | None) -> None:
    """Print one JSON line for each task under each arm: the rows' counts and medians; null is unknown."""
    _print(aggregate_lines(_read(sweep, store).report))


@command.command(name="promotion", epilog="Example:  farm export promotion quickstart-3f9a1c2b4d5e.1 > promotion.json")
@click.argument("sweep", type=SweepId)
@click.option(
    "--check",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Hold a promotion.json against what the sweep's records say now: every difference is named, and ends with 1.",
)
@store_option
@click.pass_context
def promotion(ctx: click.Context, sweep: SweepId, *, check: Path | None, store: str | None) -> None:
    """Judge again, and print what the gate promotion decided, with all that it rests on, as one JSON document.

    It is the workflow benchmark's promotion.json (schema 6); the digests of the sweep's own records stand below `farm`.
    """
    place = _open(sweep, store)
    judge_again(sweep, load_gate, place.records)
    sealed = read_finalized(sweep, place.records)
    record = promotion_of(sealed.report, sealed.seal, place.blobs.get)
    if check is None:
        click.echo(canonical_json(record.model_dump(mode="json", by_alias=True)), nl=False)
        return
    found = list(objections(_document(check), record, datetime.now(UTC)))
    _print(found or [f"{check} is what the records of {sweep} say"])
    ctx.exit(FAILED if found else PASSED)


def _document(path: Path) -> JsonValue:
    try:
        document: JsonValue = json.loads(path.read_bytes())
    except ValueError as error:
        raise SpecError(f"{path} is not JSON: {error}") from error
    return document


def _open(sweep: SweepId, store: str | None) -> Store:
    place = bootstrap.open_store(store, bootstrap.read_settings())
    bootstrap.known_sweep(place, sweep)
    return place


def _read(sweep: SweepId, store: str | None) -> _Settled:
    place = _open(sweep, store)
    return _Settled(place, read_finalized(sweep, place.records).report)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)
