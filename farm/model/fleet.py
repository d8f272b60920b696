"""What a cell needs of the host that runs it, and whether a host is there that has it."""

from collections.abc import Iterable, Iterator

from farm.model.arm import Arm
from farm.model.attempt import ANYWHERE, Host
from farm.model.canonical import canonical_json
from farm.model.digest import Digest
from farm.model.plan import Plan


def provider_need(name: str) -> str:
    """Word the need of a provider, as arms require and hosts offer it."""
    return f"provider {name}"


def program_need(kind: str, version: str) -> str:
    """Word the need of an agent's own program."""
    return f"{kind} {version}"


def label_need(label: str) -> str:
    """Word the need of a host with a label."""
    return f"label {label}"


def sandbox_need(backend: str) -> str:
    """Word the need of a sandbox's backend."""
    return f"sandbox {backend}"


def image_need(name: str) -> str:
    """Word the need of an image; what a host offers has its digest alone, which any name may stand before."""
    return f"{_IMAGE}{name}"


def is_image(offer: str) -> bool:
    """Tell whether a need or an offer is one image."""
    return offer.startswith(_IMAGE)


ANY_IMAGE = "images by their names"
"""What a host offers that gets what it does not have."""
_IMAGE = "image "


def needs(plan: Plan, arm: Arm, image: str | None) -> frozenset[str]:
    """List what a host must offer to run the arm's cells of tasks in `image`."""
    brought = () if image is None else (image_need(image),)
    return frozenset((*arm.requires, sandbox_need(plan.sandbox), *brought))


def queue_of(needed: frozenset[str]) -> str:
    """Name the queue of tickets that need just this of a host."""
    return f"{ANYWHERE}-{Digest.of(canonical_json([*sorted(needed)]))[:12]}" if needed else ANYWHERE


def lacking(needed: frozenset[str], offered: frozenset[str]) -> frozenset[str]:
    """List what of `needed` a host does not have that offers `offered`."""
    return frozenset(need for need in needed - offered if not _has_image(need, offered))


def _has_image(need: str, offered: frozenset[str]) -> bool:
    if not is_image(need):
        return False
    name, _, digest = need.removeprefix(_IMAGE).rpartition("@")
    return image_need(digest) in offered or (name != "" and ANY_IMAGE in offered)


def offers(host: Host) -> frozenset[str]:
    """List what a host offers."""
    return frozenset((*host.offers, sandbox_need(host.sandbox)))


def unserved(plan: Plan, hosts: Iterable[Host]) -> Iterator[str]:
    """Yield, for each arm (and image) that none of `hosts` can run now, what the one that is nearest to it lacks."""
    known = tuple(hosts)
    by_image = {task.image: task for task in plan.tasks}
    for arm in plan.arms:
        for image, task in by_image.items():
            why = _why_unserved(needs(plan, arm, image), known)
            if why is not None:
                there = "" if image is None else f" on task {task.id!r}"
                yield f"no host that works can run arm {arm.name!r}{there}: {why}"


def _why_unserved(needed: frozenset[str], hosts: tuple[Host, ...]) -> str | None:
    """Say why nobody takes what needs `needed`; None where somebody does, or nobody is there to say."""
    able = [host for host in hosts if not lacking(needed, offers(host))]
    hindered = [f"{host.id} ({host.hindrance})" for host in able if host.hindrance is not None]
    if not hosts or len(able) > len(hindered):
        return None
    if hindered:
        return f"it waits for {'; '.join(hindered)}"
    least = min((sorted(lacking(needed, offers(host))) for host in hosts), key=lambda lack: (len(lack), lack))
    return f"it lacks {', '.join(least)}"
