"""The scripted provider's command line: `python -m worker.provider script.yaml --port 4100`."""

import asyncio
import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TextIO

import click

from farm.errors import FarmError, SpecError
from worker.provider.load import load
from worker.provider.record import Recorded
from worker.provider.script import Script
from worker.provider.server import Provider, listening


@click.command(name="provider")
@click.argument("script", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=4100, show_default=True, help="0: any that is free.")
@click.option("--record", type=click.Path(path_type=Path), help="Append every request to this file, as JSON lines.")
def command(script: Path, host: str, port: int, record: Path | None) -> None:
    """Answer model requests from a script, until told to stop."""
    try:
        rules = load(script)
        with nullcontext() if record is None else record.open("a", encoding="utf-8") as lines:
            asyncio.run(_serve(rules, lines, host, port))
    except FarmError as error:
        click.echo(f"farm: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        click.echo(f"farm: {error}", err=True)
        sys.exit(SpecError.exit_code)


async def _serve(script: Script, lines: TextIO | None, host: str, port: int) -> None:
    def record(request: Recorded) -> None:
        if lines is not None:
            print(request.line(), file=lines, flush=True)

    stopped = asyncio.Event()
    for wanted in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(wanted, stopped.set)
    async with listening(Provider(script, record), host, port) as url:
        click.echo(f"the scripted provider answers at {url}")
        await stopped.wait()


if __name__ == "__main__":
    command()
