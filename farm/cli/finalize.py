"""farm finalize."""

import click

from farm import bootstrap
from farm.cli.codes import OPEN
from farm.cli.common import answer, json_option, store_option
from farm.cli.finishing import conclude, finish
from farm.model import SweepId
from farm.model.keys import cancel_key, close_key, results_prefix
from farm.ports import Store


def _open_cells(store: Store, sweep: SweepId) -> int:
    """Count the cells without a result of a sweep that nobody has closed or cancelled; 0 when it may be settled."""
    records = store.records
    if records.read(close_key(sweep)) is not None or records.read(cancel_key(sweep)) is not None:
        return 0
    return len(bootstrap.known_sweep(store, sweep).cells) - sum(1 for _ in records.keys(results_prefix(sweep)))


@click.command(name="finalize", epilog="Example:  farm finalize quickstart-3f9a1c2b4d5e.1")
@click.argument("sweep", type=SweepId)
@click.option("--unfinished", is_flag=True, help="Settle a sweep that still has open cells, as it is, for good.")
@store_option
@json_option
@click.pass_context
def command(ctx: click.Context, sweep: SweepId, *, unfinished: bool, store: str | None, as_json: bool) -> None:
    """Close a sweep once: settle, clean up, judge, report, seal. Doing it again gives the same bytes."""
    settings = bootstrap.read_settings()
    place = bootstrap.open_store(store, settings)
    bootstrap.known_sweep(place, sweep)
    missing = _open_cells(place, sweep)
    if missing and not unfinished:
        line = f"{sweep} still has {missing} open cells: farm resume {sweep}, or settle it as it is with --unfinished"
        answer({"sweep": sweep, "exit_code": OPEN, "open_cells": missing}, [line], as_json=as_json)
        ctx.exit(OPEN)
    with bootstrap.own_or_embedded_exchange(settings) as exchange:
        done = finish(sweep, place, exchange)
    conclude(ctx, sweep, place, done, as_json=as_json)
