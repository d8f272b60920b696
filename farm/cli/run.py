"""farm run."""

from pathlib import Path

import click

from farm import bootstrap, drafting
from farm.cli.common import edition_option, expensive_option, json_option, reuse_option, shard_option, store_option
from farm.cli.drive import open_sweep
from farm.cli.local import LocalRun, go_on
from farm.cli.registering import confirm_option, ensure_may_run, registering, registering_options
from farm.model import Shard, SweepId


@click.command(name="run", epilog="Example:  farm run sweep.yaml --slots 4")
@click.argument("sweep_file", type=click.Path(path_type=Path))
@click.option(
    "--slots",
    type=click.IntRange(min=1),
    help="Cells to run at once. Default: FARM_SLOTS, else the CPUs.",
)
@expensive_option
@registering_options
@confirm_option
@reuse_option
@edition_option
@shard_option
@store_option
@json_option
@click.pass_context
def command(  # noqa: PLR0913 (the options of a verb)
    ctx: click.Context,
    sweep_file: Path,
    *,
    slots: int | None,
    expensive: bool,
    lock: Path | None,
    max_tasks: int | None,
    trials: int | None,
    priors: tuple[str, ...],
    confirmed: bool,
    reuse: tuple[str, ...],
    edition: int | None,
    shard: Shard | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Plan, submit, coordinate, work and finalize in one command.

    Uses the Redis of FARM_REDIS_URL, or starts a private one for the run. Ctrl-C leaves the sweep open for
    `farm resume`; a second Ctrl-C cancels it.
    """
    settings = bootstrap.read_settings()
    if settings.redis_url:
        bootstrap.connect(settings.redis_url)
    place = bootstrap.open_store(store, settings)
    asked = registering(lock, max_tasks, trials, priors)
    draft = drafting.draft_plan(sweep_file, expensive=expensive, reuse=reuse, store=store, registering=asked)
    ensure_may_run(draft, confirmed=confirmed)
    place.check()

    def opened() -> SweepId:
        return open_sweep(draft.deliver(place), edition, shard, place.records)

    go_on(ctx, LocalRun(draft.plan, opened, place, settings, slots, as_json, shard))
