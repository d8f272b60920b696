"""farm finalize."""

import click

from farm import bootstrap
from farm.cli.codes import OPEN
from farm.cli.common import answer, json_option, store_option
from farm.cli.finishing import conclude, finish
from farm.finalizer.closing import open_cells, open_shards
from farm.model import Opening, SweepId
from farm.ports import Store


def _where(opening: Opening, store: Store) -> str:
    """Say how the open cells are run."""
    waiting = open_shards(opening.sweep, opening.shards, store.records)
    if not waiting:
        return f": farm resume {opening.sweep}"
    named = ", ".join(str(shard) for shard in waiting)
    return f" in shards {named}: farm resume {opening.sweep} --shard {waiting[0]}"


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
    plan, opening = bootstrap.known_sweep(place, sweep), bootstrap.opening(place, sweep)
    missing = open_cells(opening, plan, place.records)
    if missing and not unfinished:
        line = (
            f"{sweep} still has {missing} open cells{_where(opening, place)}, or settle it as it is with --unfinished"
        )
        answer({"sweep": sweep, "exit_code": OPEN, "open_cells": missing}, [line], as_json=as_json)
        ctx.exit(OPEN)
    with bootstrap.own_or_embedded_exchange(settings) as exchange:
        done = finish(sweep, place, exchange)
    conclude(ctx, sweep, place, done, as_json=as_json)
