"""farm drain."""

import click

from farm.cli.common import answer, json_option
from farm.cli.draining import give_order
from farm.model import DrainKind


@click.command(name="drain", epilog="Example:  farm drain build-7 --now")
@click.argument("host")
@click.option("--now", is_flag=True, help="Also stop the cells that run there; other hosts run them again.")
@json_option
def command(host: str, *, now: bool, as_json: bool) -> None:
    """Let a host take no more cells, also when it starts again, until `farm undrain`; what runs there may finish."""
    obeyed = give_order(host, DrainKind.NOW if now else DrainKind.DRAIN)
    running = obeyed.running
    if not obeyed.workers:
        line = obeyed.absent
    elif running:
        line = f"{host} takes nothing more; {running} of its cells still run: `farm hosts` shows when they have ended"
    else:
        line = f"{host} takes nothing more, and nothing runs there"
    answer({"host": host, "workers": len(obeyed.workers), "running": running}, [line], as_json=as_json)
