"""farm durations."""

import json

import click
from pydantic import JsonValue

from farm import bootstrap
from farm.cli.common import answer, json_option, store_option
from farm.finalizer.finalize import read_finalized
from farm.model import Expected, SweepId
from farm.reporting.durations import expected_durations


@click.command(name="durations", epilog="Example:  farm durations quickstart-3f9a1c2b4d5e.1 > durations.yaml")
@click.argument("sweeps", type=SweepId, nargs=-1, required=True, metavar="SWEEP…")
@store_option
@json_option
def command(sweeps: tuple[SweepId, ...], *, store: str | None, as_json: bool) -> None:
    """Print within how many seconds finalized sweeps' cells ended: a table for `durations:`."""
    place = bootstrap.open_store(store, bootstrap.read_settings())
    for sweep in sweeps:
        bootstrap.known_sweep(place, sweep)
    tables = (read_finalized(sweep, place.records).report.table for sweep in dict.fromkeys(sweeps))
    found = {
        task: {arm: _listed(known) for arm, known in by_arm.items()}
        for task, by_arm in expected_durations(tables).items()
    }
    lines = ["tasks:" if found else "tasks: {}   # nothing was measured"]
    for task, by_arm in found.items():
        lines += [f"  {task}:", *(f"    {arm}: {json.dumps(known)}" for arm, known in by_arm.items())]
    tasks: dict[str, JsonValue] = {task: dict(by_arm) for task, by_arm in found.items()}
    answer({"tasks": tasks}, lines, as_json=as_json)


def _listed(known: tuple[Expected, ...]) -> JsonValue:
    """Give one entry, or the list where several agents or models had the arm's name."""
    entries: list[JsonValue] = [one.model_dump(mode="json", exclude_none=True) for one in known]
    return entries if len(entries) > 1 else entries[0]
