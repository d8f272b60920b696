"""farm export."""

from collections.abc import Iterable
from dataclasses import dataclass

import click

from farm import bootstrap
from farm.cli.common import store_option
from farm.finalizer.finalize import read_finalized
from farm.model import SweepId
from farm.ports import Store
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


def _read(sweep: SweepId, store: str | None) -> _Settled:
    place = bootstrap.open_store(store, bootstrap.read_settings())
    bootstrap.known_sweep(place, sweep)
    return _Settled(place, read_finalized(sweep, place.records).report)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)
