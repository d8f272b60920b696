"""farm hosts."""

from datetime import datetime

import click

from farm import bootstrap
from farm.cli.common import answer, json_option
from farm.cli.display import clock_text
from farm.model import Host, Machine, is_image
from farm.reporting.text import one_line

_MOST_SKEW_S = 1.0
_GIB = 1 << 30


def describe(host: Host, now: datetime) -> list[str]:
    """Say in a few lines what the worker does, has and offers; images, of which there may be hundreds, are counted.

    `now` is the farm's, on the clock of its lease book.
    """
    age_s = max(0.0, (now - host.seen_at).total_seconds() + (host.skew_s or 0.0))
    at_work = f"{host.busy}/{host.slots} slots busy" if host.hindrance is None else f"{host.busy} cells still run"
    what = f"sandbox {one_line(host.sandbox, most=40)}, farm {one_line(host.version, most=40)}"
    lines = [f"{one_line(host.id, most=120)}: {at_work}, heartbeat {age_s:.0f} s ago, {what}"]
    if host.problem is not None:
        lines.append(f"  takes nothing more: {one_line(host.problem)}")
    if host.draining is not None:
        lines.append(f"  takes nothing more: {one_line(host.draining)}; `farm undrain {host.name}` lets it work again")
    if host.left_s is not None:
        lines.append(f"  time window: {f'open for {clock_text(host.left_s)}' if host.left_s else 'closed'}")
    if host.skew_s is not None and abs(host.skew_s) > _MOST_SKEW_S:
        ahead = "ahead of" if host.skew_s > 0 else "behind"
        lines.append(f"  its clock is {abs(host.skew_s):.1f} s {ahead} Redis'; its records' times are as wrong")
    if host.machine is not None:
        lines.append(f"  {_machine(host.machine)}")
    offered = [one_line(offer, most=80) for offer in host.offers if not is_image(offer)]
    images = len(host.offers) - len(offered)
    if images:
        offered.append(f"{images} digests of images")
    if offered:
        lines.append(f"  offers {', '.join(offered)}")
    return lines


def _machine(machine: Machine) -> str:
    cpus = f"{machine.cpus} CPUs, load {machine.load:.1f}"
    disk = f"disk {_of(machine.disk_free_bytes, machine.disk_bytes)} GiB"
    inodes = "" if not machine.inodes else f", {100 * (machine.inodes_free or 0) // machine.inodes}% of inodes"
    memory = (
        ""
        if machine.memory_bytes is None or machine.memory_free_bytes is None
        else f"memory {_of(machine.memory_free_bytes, machine.memory_bytes)} GiB, "
    )
    system = f"{one_line(machine.architecture, most=20)}, {one_line(machine.kernel, most=80)}"
    return f"{system}, {cpus}; free: {memory}{disk}{inodes}"


def _of(free: int, all_of_it: int) -> str:
    return f"{free / _GIB:.1f} of {all_of_it / _GIB:.1f}"


@click.command(name="hosts", epilog="Example:  FARM_REDIS_URL=redis://queue:6379/0 farm hosts")
@json_option
def command(*, as_json: bool) -> None:
    """List the workers that are alive, what they do, and what they offer to cells."""
    exchange = bootstrap.connect(bootstrap.redis_url(bootstrap.read_settings()))
    hosts, now = exchange.hosts.live(), exchange.leases.now()
    lines = [line for host in hosts for line in describe(host, now)]
    lines = lines or [f"no worker is alive at {exchange.shown_url}; start one with `farm worker`"]
    answer({"hosts": [host.model_dump(mode="json") for host in hosts]}, lines, as_json=as_json)
