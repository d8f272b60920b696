"""farm coordinate."""

from dataclasses import replace
from decimal import Decimal
from functools import partial

import click

from farm import bootstrap
from farm.cli.all_open import coordinate_all
from farm.cli.codes import INTERRUPTED
from farm.cli.common import answer, budget_options, json_option, shard_option, store_option
from farm.cli.coordinated import coordinated_code
from farm.cli.display import live_display
from farm.cli.drive import coordinate, live_notes, open_drive
from farm.cli.interrupts import Interrupts
from farm.cli.open_end import coordinate_open, why_open
from farm.coordinator.loop import EndKind
from farm.coordinator.mandate import raised
from farm.model import Shard, SweepId


@click.command(name="coordinate", epilog="Example:  farm coordinate quickstart-3f9a1c2b4d5e.1")
@click.argument("sweep", type=SweepId, required=False)
@click.option(
    "--open",
    "stays",
    is_flag=True,
    help="Wait for the next time window when cells wait for one. Without SWEEP: every open sweep, until told to end.",
)
@budget_options
@shard_option
@store_option
@json_option
@click.pass_context
def command(  # noqa: PLR0913 (click's: an option each)
    ctx: click.Context,
    sweep: SweepId | None,
    *,
    stays: bool,
    cost_usd: Decimal | None,
    tokens: int | None,
    shard: Shard | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Send a submitted sweep's cells to the workers until it ends; Ctrl-C leaves it open and the workers at work."""
    if sweep is None and (not stays or cost_usd is not None or tokens is not None or shard is not None):
        raise click.UsageError("name a sweep, or say --open alone for every open one")
    settings = bootstrap.read_settings()
    place = bootstrap.open_store(store, settings)
    if sweep is None:
        coordinate_all(place, bootstrap.connect(bootstrap.redis_url(settings), settings.tickets_url))
        ctx.exit(INTERRUPTED)
    plan = bootstrap.known_sweep(place, sweep)
    drive = open_drive(sweep, place, bootstrap.connect(bootstrap.redis_url(settings), settings.tickets_url), shard)
    drive = replace(drive, budget=raised(plan, cost_usd, tokens))
    with Interrupts() as interrupts, live_display(lambda: live_notes(drive), quiet=as_json) as show:
        lead = partial(coordinate_open, plan=plan) if stays else coordinate
        end = lead(drive, should_stop=lambda: interrupts.asked_to_stop, show=show)
    reason = end.close.reason.value if end.close else end.kind.value
    waits = None if end.left_open is None else why_open(end.left_open, plan, drive.clock.now())
    code = coordinated_code(end)
    verb = "finalize" if end.kind is EndKind.CLOSED else "coordinate"
    answer(
        {"sweep": sweep, "end": reason, "exit_code": code, "waits": waits},
        [f"{sweep}: {waits or reason}; next:  farm {verb} {sweep}"],
        as_json=as_json,
    )
    ctx.exit(code)
