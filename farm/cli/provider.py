"""farm provider."""

import os
import sys

import click


@click.command(name="provider", epilog="Example:  farm provider script.yaml --port 4100 --record requests.jsonl")
@click.argument("script", type=click.Path())
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=4100, show_default=True, help="0: any that is free.")
@click.option("--record", metavar="FILE", help="Append every request to this file, as JSON lines; keys as digests.")
def command(script: str, host: str, port: int, record: str | None) -> None:
    """Answer model requests from a script, on four wires, until told to stop: a sweep tried for free.

    The script's format is in ops/provider.md.
    """
    argv = [sys.executable, "-m", "worker.provider", script, "--host", host, "--port", str(port)]
    argv += ["--record", record] if record else []
    os.execv(argv[0], argv)  # noqa: S606 (our own module, by absolute interpreter)
