"""The worker's command line: `python -m worker.cli --slots 4`."""

import json
import os
import sys
from dataclasses import asdict

import click

from farm.errors import FarmError
from worker import bootstrap


@click.command(name="worker", epilog="Example:  FARM_REDIS_URL=redis://queue:6379/0 python -m worker.cli --slots 4")
@click.option("--slots", type=click.IntRange(1, 1000), help="Cells to run at once. Default: FARM_SLOTS, else the CPUs.")
@click.option("--lifeline", is_flag=True, help="End when standard input ends; SIGTERM stops running cells.")
@click.option("--check", is_flag=True, help="Only prove that this host can run cells.")
@click.option("--json", "as_json", is_flag=True, help="With --check: the probes as JSON.")
def command(slots: int | None, *, lifeline: bool, check: bool, as_json: bool) -> None:
    """Run cells on this host until told to stop. SIGTERM: finish running cells; again: stop them."""
    try:
        if check:
            _check(as_json=as_json)
        else:
            _become_worker(slots or bootstrap.read_settings().slot_count, lifeline=lifeline)
    except FarmError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)


def _check(*, as_json: bool) -> None:
    probes = bootstrap.preflight()
    if as_json:
        click.echo(json.dumps([asdict(probe) for probe in probes]))
    else:
        width = max(len(probe.name) for probe in probes)
        for probe in probes:
            click.echo(f"{'ok  ' if probe.ok else 'FAIL'}  {probe.name:<{width}}  {probe.detail}")
            if not probe.ok and probe.fix:
                click.echo(f"fix   {probe.name:<{width}}  {probe.fix}")
    sys.exit(0 if all(probe.ok for probe in probes) else 2)


def _become_worker(slots: int, *, lifeline: bool) -> None:
    """Replace this process by Celery's, which proves the sandbox before it takes a ticket."""
    bootstrap.redis_url()
    bootstrap.open_store()
    argv = [sys.executable, "-m", "celery", "-A", "worker.app", "worker"]
    argv += ["-P", "prefork", "-c", str(slots), "-l", "WARNING"]
    argv += ["-n", f"{bootstrap.read_settings().host}-{os.getpid()}@%h"]
    argv += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    sys.stdout.flush()
    os.execve(argv[0], argv, dict(bootstrap.worker_environment(slots, lifeline=lifeline)))  # noqa: S606 (our own interpreter)


if __name__ == "__main__":
    command()
