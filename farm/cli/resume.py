"""farm resume."""

from decimal import Decimal

import click

from farm import bootstrap
from farm.cli.common import budget_options, json_option, shard_option, store_option
from farm.cli.local import LocalRun, go_on
from farm.coordinator.mandate import raised
from farm.model import Shard, SweepId
from farm.model.keys import cancel_key, close_key


@click.command(name="resume", epilog="Example:  farm resume quickstart-3f9a1c2b4d5e.1")
@click.argument("sweep", type=SweepId)
@click.option(
    "--slots",
    type=click.IntRange(min=0),
    help="As `farm run`; 0 starts no worker here.",
)
@budget_options
@shard_option
@store_option
@json_option
@click.pass_context
def command(  # noqa: PLR0913 (the options of a verb)
    ctx: click.Context,
    sweep: SweepId,
    *,
    slots: int | None,
    cost_usd: Decimal | None,
    tokens: int | None,
    shard: Shard | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Run what an interrupted sweep still lacks, then finalize it; what has a result is not run again."""
    settings = bootstrap.read_settings()
    place = bootstrap.open_store(store, settings)
    plan = bootstrap.known_sweep(place, sweep)
    is_over = any(place.records.read(key) is not None for key in (close_key(sweep), cancel_key(sweep)))
    budget = raised(plan, cost_usd, tokens)
    go_on(ctx, LocalRun(plan, lambda: sweep, place, settings, 0 if is_over else slots, as_json, shard, budget))
