"""What a cell needs of the host that runs it, and whether a host is there that has it."""

from collections.abc import Iterable, Iterator

from farm.model.arm import Arm
from farm.model.attempt import Host
from farm.model.plan import Plan


def provider_need(name: str) -> str:
    """Word the need of a provider, as arms require and hosts offer it."""
    return f"provider {name}"


def program_need(kind: str, version: str) -> str:
    """Word the need of an agent's own program."""
    return f"{kind} {version}"


def sandbox_need(backend: str) -> str:
    """Word the need of a sandbox's backend."""
    return f"sandbox {backend}"


def needs(plan: Plan, arm: Arm) -> frozenset[str]:
    """List what a host must offer to run the arm's cells."""
    return frozenset((*arm.requires, sandbox_need(plan.sandbox)))


def offers(host: Host) -> frozenset[str]:
    """List what a host offers."""
    return frozenset((*host.offers, sandbox_need(host.sandbox)))


def unserved(plan: Plan, hosts: Iterable[Host]) -> Iterator[str]:
    """Yield, for each arm that none of `hosts` can run, what the one that is nearest to it lacks."""
    offered = [offers(host) for host in hosts]
    for arm in plan.arms:
        lacking = [needs(plan, arm) - found for found in offered]
        if lacking and all(lacking):
            least = min((sorted(lack) for lack in lacking), key=lambda lack: (len(lack), lack))
            yield f"no host that works can run arm {arm.name!r}: it lacks {', '.join(least)}"
