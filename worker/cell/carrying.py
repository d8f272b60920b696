"""A session's home: what is laid into it, and what goes on into it from the session before."""

import os
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

from farm.model import SessionReport, Usage
from worker.session import Counted, Launch
from worker.trees.copying import Ownership, give
from worker.trees.opening import Beneath

_N = TypeVar("_N", int, Decimal)


def carry(paths: Iterable[str], before: Path, home: Path, owner: Ownership) -> None:
    """Move what is at `paths` from the home of a dead session to a fresh one.

    What is not there, or only by way of a link, stays where it is: then its agent has nothing to go on with, and says
    so. Call it last: nothing of ours is written to a home that a guest has had a part in.
    """
    for path in paths:
        parent, _, name = path.rpartition("/")
        _make_parents(home, path, owner)
        with suppress(OSError), Beneath(before) as old:  # the guest's doing, all of it
            descriptor = old.folder(parent)
            try:
                os.rename(name, home / path, src_dir_fd=descriptor)
            finally:
                os.close(descriptor)


def own_share(report: SessionReport, before: SessionReport, counts_on: frozenset[Counted]) -> SessionReport:
    """Take out of a report what its stream says again of the sessions before."""
    update: dict[str, Decimal | Usage | None] = {}
    if Counted.COST in counts_on:
        update["cost_usd"] = _difference(report.cost_usd, before.cost_usd)
    if Counted.USAGE in counts_on:
        update["usage"] = _used(report.usage, before.usage)
    return report.model_copy(update=update)


def _used(whole: Usage | None, before: Usage | None) -> Usage | None:
    if whole is None or before is None:
        return None
    pairs = {name: (getattr(whole, name), getattr(before, name)) for name in Usage.model_fields}
    return Usage(**{name: _difference(*pair) for name, pair in pairs.items()})


def _difference(whole: _N | None, before: _N | None) -> _N | None:
    """Give what came on top; None where one is not known, or less than what it was before."""
    return None if whole is None or before is None or whole < before else whole - before


def lay_home_files(launch: Launch, home: Path, owner: Ownership) -> None:
    """Write the adapter's files and links into a fresh home, before any guest has seen it."""
    for path, body in launch.home_files.items():
        _make_parents(home, path, owner)
        descriptor = os.open(home / path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
        give(home / path, owner)
    for path, target in launch.home_links.items():  # last: nothing of ours is written by way of a link
        _make_parents(home, path, owner)
        (home / path).symlink_to(target)
        give(home / path, owner)


def _make_parents(home: Path, path: str, owner: Ownership) -> None:
    place = home
    for part in path.split("/")[:-1]:
        place /= part
        if not place.exists():
            place.mkdir(mode=0o700)
            give(place, owner)
