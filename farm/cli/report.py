"""farm report."""

import click

from farm import bootstrap
from farm.cli.common import json_option, store_option
from farm.cli.finishing import conclude
from farm.finalizer.finalize import read_finalized
from farm.model import SweepId


@click.command(name="report", epilog="Example:  farm report quickstart-3f9a1c2b4d5e.1 --json")
@click.argument("sweep", type=SweepId)
@store_option
@json_option
@click.pass_context
def command(ctx: click.Context, sweep: SweepId, *, store: str | None, as_json: bool) -> None:
    """Print a finalized sweep's verdict, its arms, and where its reports are; ends with the sweep's exit code."""
    place = bootstrap.open_store(store, bootstrap.read_settings())
    bootstrap.known_sweep(place, sweep)
    conclude(ctx, sweep, place, read_finalized(sweep, place.records), as_json=as_json)
