"""farm undrain."""

import click

from farm.cli.common import answer, json_option
from farm.cli.draining import give_order
from farm.model import DrainKind
from farm.reporting.text import one_line


@click.command(name="undrain", epilog="Example:  farm undrain build-7")
@click.argument("host")
@json_option
def command(host: str, *, as_json: bool) -> None:
    """Let a drained host take cells again."""
    obeyed = give_order(host, DrainKind.UNDRAIN)
    slots = sum(worker.slots for worker in obeyed.workers)
    lines = [f"{host} takes cells again: {slots} slots"] if slots else []
    lines += [
        f"{worker.id} takes nothing all the same: {one_line(worker.hindrance)}"
        for worker in obeyed.workers
        if worker.hindrance is not None
    ]
    lines = lines or [obeyed.absent]
    answer({"host": host, "workers": len(obeyed.workers), "slots": slots}, lines, as_json=as_json)
