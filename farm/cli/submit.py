"""farm submit."""

from pathlib import Path

import click

from farm import bootstrap, drafting
from farm.cli.common import (
    answer,
    edition_option,
    expensive_option,
    json_option,
    reuse_option,
    shard_option,
    store_option,
)
from farm.cli.drive import open_sweep
from farm.cli.registering import confirm_option, ensure_may_run, registering, registering_options
from farm.cli.served import ensure_served_if_locked
from farm.model import Shard


@click.command(name="submit", epilog="Example:  farm submit sweep.yaml --store s3://farm/sweeps")
@click.argument("sweep_file", type=click.Path(path_type=Path))
@expensive_option
@registering_options
@confirm_option
@reuse_option
@edition_option
@shard_option
@store_option
@json_option
def command(  # noqa: PLR0913 (the options of a verb)
    sweep_file: Path,
    *,
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
    """Freeze a sweep into the store and print its id; nothing runs until it is coordinated."""
    place = bootstrap.open_store(store, bootstrap.read_settings())
    asked = registering(lock, max_tasks, trials, priors)
    draft = drafting.draft_plan(sweep_file, expensive=expensive, reuse=reuse, store=store, registering=asked)
    ensure_may_run(draft, confirmed=confirmed)
    ensure_served_if_locked(draft.plan)
    place.check()
    plan = draft.deliver(place)
    sweep = open_sweep(plan, edition, shard, place.records)
    cells = len(plan.cells if shard is None else shard.cells(plan))
    answer({"sweep": sweep, "cells": cells, "store": place.url}, [sweep], as_json=as_json)
