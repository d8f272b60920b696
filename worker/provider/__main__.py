"""The scripted provider's command line: `python -m worker.provider script.yaml --port 4100`."""

import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import click

from farm.errors import FarmError, SpecError
from worker.provider.load import load
from worker.provider.record import Recorded
from worker.provider.server import Provider, listening


@click.command(name="provider")
@click.argument("script", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=4100, show_default=True, help="0: any that is free.")
@click.option("--record", type=click.Path(path_type=Path), help="Append every request to this file, as JSON lines.")
@click.option("--lifeline", is_flag=True, help="End when standard input ends.")
def command(script: Path, host: str, port: int, record: Path | None, *, lifeline: bool) -> None:
    """Answer model requests from a script, until told to stop."""
    try:
        rules = load(script)
        with nullcontext() if record is None else record.open("a", encoding="utf-8") as lines:
            asyncio.run(_serve(Provider(rules, _recording(lines)), Place(host, port), lifeline=lifeline))
    except FarmError as error:
        click.echo(f"farm: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        click.echo(f"farm: {error}", err=True)
        sys.exit(SpecError.exit_code)


@dataclass(frozen=True, slots=True)
class Place:
    """Where to listen."""

    host: str
    port: int


def _recording(lines: TextIO | None) -> Callable[[Recorded], None]:
    def record(request: Recorded) -> None:
        if lines is not None:
            print(request.line(), file=lines, flush=True)

    return record


async def _serve(provider: Provider, place: Place, *, lifeline: bool) -> None:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for wanted in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(wanted, stopped.set)
    if lifeline:
        loop.add_reader(sys.stdin.fileno(), stopped.set)  # nothing is ever written there: it can be read at its end
    async with listening(provider, place.host, place.port) as url:
        click.echo(f"the scripted provider answers at {url}")
        await stopped.wait()


if __name__ == "__main__":
    command()
