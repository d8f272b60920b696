"""farm submit."""

from pathlib import Path

import click

from farm import bootstrap
from farm.cli.common import answer, json_option, store_option
from farm.cli.drive import submitter
from farm.coordinator.submit import submit


@click.command(name="submit", epilog="Example:  farm submit sweep.yaml --store s3://farm/sweeps")
@click.argument("sweep_file", type=click.Path(path_type=Path))
@click.option("--edition", type=click.IntRange(min=1), help="Which run of this plan; the next free one by default.")
@store_option
@json_option
def command(sweep_file: Path, *, edition: int | None, store: str | None, as_json: bool) -> None:
    """Freeze a sweep into the store and print its id; nothing runs until it is coordinated."""
    place = bootstrap.open_store(store, bootstrap.read_settings())
    draft = bootstrap.draft_plan(sweep_file)
    place.check()
    plan = draft.deliver(place.blobs)
    sweep = submit(plan, edition, place.records, submitted_by=submitter(), clock=bootstrap.clock())
    answer({"sweep": sweep, "cells": len(plan.cells), "store": place.url}, [sweep], as_json=as_json)
