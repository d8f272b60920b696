"""farm worker."""

import os

import click

from farm import bootstrap
from farm.cli.common import store_option


@click.command(name="worker", epilog="Example:  FARM_REDIS_URL=redis://queue:6379/0 farm worker --slots 4")
@click.option("--slots", type=click.IntRange(min=1), help="Cells to run at once. Default: FARM_SLOTS, else the CPUs.")
@store_option
def command(slots: int | None, store: str | None) -> None:
    """Run cells on this host until told to stop; refuses to start when the sandbox does not hold here."""
    settings = bootstrap.read_settings()
    url = bootstrap.redis_url(settings)
    bootstrap.connect(url)
    bootstrap.ping_broker(settings)
    env = dict(bootstrap.worker_environment(settings, url, bootstrap.open_store(store, settings).url))
    argv = bootstrap.worker_command(*(("--slots", str(slots)) if slots else ()))
    os.execve(argv[0], argv, env)  # noqa: S606 (our own module, by absolute interpreter)
