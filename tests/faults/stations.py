"""Coordinator and finalizer as the command runs them, but in a hurry and past points, each in a process of its own.

They are forked from one that has all modules, which saves a second each time. Each line of their log is one word on how
it goes: what is waited for, and how it ended.
"""

import json
import multiprocessing
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, Literal

from farm import bootstrap
from farm.cli.drive import coordinate, open_drive
from farm.cli.finishing import finish
from farm.cli.interrupts import Interrupts
from farm.coordinator.ports import Rhythm
from farm.coordinator.progress import Progress
from farm.errors import FarmError
from farm.model import SweepId, Ticket
from tests.faults.hooked import points
from tests.faults.points import Passing, Points

QUICK = Rhythm(
    leases_s=0.2,
    slots_s=0.5,
    orders_s=0.3,
    repair_s=1.0,
    lead_s=0.5,
    lead_ttl_s=2.0,
    progress_s=0.2,
    absence_s=1.5,
    overdue_s=1.0,
    overdue_most_s=4.0,
    outage_s=0.3,
)


class HookedDispatcher:
    """A dispatcher with a point before and after each ticket."""

    def __init__(self, dispatcher: Any, points: Points) -> None:
        self._dispatcher = dispatcher
        self._points = points

    def send(self, ticket: Ticket, *more: Any, **named: Any) -> Any:
        self._points.passed(Passing("before send", ticket.sweep, ticket.cell))
        sent = self._dispatcher.send(ticket, *more, **named)
        self._points.passed(Passing("after send", ticket.sweep, ticket.cell))
        return sent


def say(**told: object) -> None:
    """Say it at once."""
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


Station = Literal["coordinate", "finalize"]


def started(station: Station, sweep: SweepId, env: Mapping[str, str], log: Path) -> ForkServerProcess:
    """Start a station for the sweep, with an environment of its own."""
    nursery = multiprocessing.get_context("forkserver")
    nursery.set_forkserver_preload([__name__])
    process = nursery.Process(target=_become, args=(station, sweep, dict(env), log), daemon=True)
    process.start()
    return process


def _become(station: Station, sweep: SweepId, env: Mapping[str, str], log: Path) -> None:
    os.environ.clear()  # noqa: TID251 (what a shell would do)
    os.environ.update(env)  # noqa: TID251
    sys.path[:0] = env["PYTHONPATH"].split(":")
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(out, 1)
    os.dup2(out, 2)
    sys.stdout = sys.stderr = os.fdopen(1, "w", closefd=False)
    sys.exit({"coordinate": _coordinate, "finalize": _finalize}[station](sweep))


def _finalize(sweep: SweepId) -> int:
    settings = bootstrap.read_settings()
    exchange = bootstrap.connect(bootstrap.redis_url(settings))
    return finish(sweep, bootstrap.open_store(None, settings), exchange).exit_code


def _coordinate(sweep: SweepId) -> int:
    """Coordinate the sweep; the exit code of an error is the command's own."""
    settings = bootstrap.read_settings()
    said: list[str | None] = [None]

    def show(progress: Progress) -> None:
        if progress.waiting != said[0]:
            said[0] = progress.waiting
            say(done=progress.done, waiting=progress.waiting)

    try:
        exchange = bootstrap.connect(bootstrap.redis_url(settings))
        hooked = replace(exchange, dispatcher=HookedDispatcher(exchange.dispatcher, points()))  # type: ignore[arg-type]
        drive = open_drive(sweep, bootstrap.open_store(None, settings), hooked)
        with Interrupts() as interrupts:
            end = coordinate(drive, lambda: interrupts.asked_to_stop, show, QUICK)
    except FarmError as error:
        say(error=f"{type(error).__name__}: {error}")
        return error.exit_code
    say(end=end.kind, close=None if end.close is None else end.close.reason)
    return 0
