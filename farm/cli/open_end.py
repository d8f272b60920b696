"""A sweep that stays open: what it waits for, and waiting for it."""

from collections.abc import Callable
from datetime import datetime
from typing import assert_never

import click

from farm.cli.drive import Drive, coordinate
from farm.cli.hours import moment
from farm.coordinator.effects import Deferral
from farm.coordinator.fleet_hours import FleetHours
from farm.coordinator.loop import CoordinatorEnd, EndKind
from farm.coordinator.progress import Progress
from farm.coordinator.shell import LeftOpen
from farm.errors import TransientError
from farm.model import Plan
from farm.model.time_window import are_over, calendars, next_opening

_LOOK_S = 1.0


def why_open(left: LeftOpen, plan: Plan, now: datetime) -> str:
    """Say in one line what the cells wait for that were put aside."""
    awaited = (_awaited(why, left, plan, now) for why in sorted(left.why))
    return f"deferred cells: {left.cells}; they wait for {', and for '.join(awaited)}"


def _awaited(why: Deferral, left: LeftOpen, plan: Plan, now: datetime) -> str:
    match why:
        case Deferral.WINDOW:
            return f"a time window that leaves them time enough{_when(plan, now)}"
        case Deferral.BUDGET:
            return f"a higher budget ({left.budget}): say --budget or --budget-tokens"
        case _:
            assert_never(why)


def _when(plan: Plan, now: datetime) -> str:
    """Say when the sweep's next window opens; nothing when it is the hosts' that are closed."""
    if not plan.windows:
        return " on a host"
    opening = next_opening(calendars(plan.windows), now)
    return "; none is to come" if opening is None else f": the next opens at {moment(opening)}"


def coordinate_open(
    drive: Drive, plan: Plan, should_stop: Callable[[], bool], show: Callable[[Progress], None]
) -> CoordinatorEnd:
    """As coordinate, but wait for the next time window when cells wait for one, and go on; none to come ends it."""
    while True:
        end = coordinate(drive, should_stop, show)
        if end.left_open is None or Deferral.WINDOW not in end.left_open.why:
            return end
        click.echo(f"{drive.sweep}: {why_open(end.left_open, plan, drive.clock.now())}", err=True)
        if not _has_time(drive, plan, end.left_open.needs_s, should_stop):
            return end if _is_over(drive, plan) else CoordinatorEnd(EndKind.INTERRUPTED)


def _has_time(drive: Drive, plan: Plan, needs_s: float, should_stop: Callable[[], bool]) -> bool:
    """Wait until a cell that needs so much time could begin; False when it never will, or a person will not wait."""
    hours = FleetHours(plan, drive.exchange.leases)
    while not should_stop() and not _is_over(drive, plan):
        drive.clock.sleep(_LOOK_S)
        try:
            found_s = hours.left_s(drive.exchange.hosts.live())
        except TransientError:
            continue
        if found_s is None or found_s >= needs_s:
            return True
    return False


def _is_over(drive: Drive, plan: Plan) -> bool:
    return are_over(calendars(plan.windows), drive.clock.now())
