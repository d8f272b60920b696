"""farm durations."""

import click

from farm import bootstrap
from farm.cli.common import answer, json_option, store_option
from farm.finalizer.finalize import read_finalized
from farm.model import SweepId
from farm.reporting.durations import expected_durations


@click.command(name="durations", epilog="Example:  farm durations quickstart-3f9a1c2b4d5e.1 > durations.yaml")
@click.argument("sweep", type=SweepId)
@store_option
@json_option
def command(sweep: SweepId, *, store: str | None, as_json: bool) -> None:
    """Print within how many seconds nine in ten cells of a finalized sweep ended: a table for `durations:`."""
    place = bootstrap.open_store(store, bootstrap.read_settings())
    bootstrap.known_sweep(place, sweep)
    found = expected_durations(read_finalized(sweep, place.records).report.table.rows)
    lines = ["tasks:" if found else "tasks: {}   # nothing was measured"]
    lines += [
        f"  {task}: {{{', '.join(f'{arm}: {seconds:g}' for arm, seconds in sorted(by_arm.items()))}}}"
        for task, by_arm in sorted(found.items())
    ]
    answer({"tasks": {task: dict(by_arm) for task, by_arm in found.items()}}, lines, as_json=as_json)
