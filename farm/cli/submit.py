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
from farm.model import Shard


@click.command(name="submit", epilog="Example:  farm submit sweep.yaml --store s3://farm/sweeps")
@click.argument("sweep_file", type=click.Path(path_type=Path))
@expensive_option
@reuse_option
@edition_option
@shard_option
@store_option
@json_option
def command(  # noqa: PLR0913 (the options of a verb)
    sweep_file: Path,
    *,
    expensive: bool,
    reuse: tuple[str, ...],
    edition: int | None,
    shard: Shard | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Freeze a sweep into the store and print its id; nothing runs until it is coordinated."""
    place = bootstrap.open_store(store, bootstrap.read_settings())
    draft = drafting.draft_plan(sweep_file, expensive=expensive, reuse=reuse, store=store)
    place.check()
    plan = draft.deliver(place)
    sweep = open_sweep(plan, edition, shard, place.records)
    cells = len(plan.cells if shard is None else shard.cells(plan))
    answer({"sweep": sweep, "cells": cells, "store": place.url}, [sweep], as_json=as_json)
