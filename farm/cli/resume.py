"""farm resume."""

import click

from farm import bootstrap
from farm.cli.common import json_option, store_option
from farm.cli.local import LocalRun, go_on, slot_count
from farm.model import SweepId
from farm.model.keys import close_key


@click.command(name="resume", epilog="Example:  farm resume quickstart-3f9a1c2b4d5e.1")
@click.argument("sweep", type=SweepId)
@click.option("--slots", type=click.IntRange(min=0), help="Cells to run at once here; 0 starts no worker here.")
@store_option
@json_option
@click.pass_context
def command(ctx: click.Context, sweep: SweepId, *, slots: int | None, store: str | None, as_json: bool) -> None:
    """Run what an interrupted sweep still lacks, then finalize it; what has a result is not run again."""
    settings = bootstrap.read_settings()
    place = bootstrap.open_store(store, settings)
    plan = bootstrap.known_sweep(place, sweep)
    is_closed = place.records.read(close_key(sweep)) is not None
    wanted = 0 if is_closed else slot_count(slots)
    go_on(ctx, LocalRun(plan.name, lambda: sweep, place, settings, wanted, as_json))
