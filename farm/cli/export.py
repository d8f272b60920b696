"""farm export."""

import click

from farm import bootstrap
from farm.cli.common import store_option
from farm.finalizer.finalize import read_finalized
from farm.model import SweepId
from farm.reporting.rows import export_lines


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
    place = bootstrap.open_store(store, bootstrap.read_settings())
    bootstrap.known_sweep(place, sweep)
    for line in export_lines(read_finalized(sweep, place.records).report, place.blobs.get):
        click.echo(line)
