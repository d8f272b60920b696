"""How much time a sweep's cells have: until its own windows close, and those of the last host that is open."""

from collections.abc import Iterable

from farm.coordinator.queues import CellQueues
from farm.model import Host, Plan
from farm.model.time_window import calendars, left_s
from farm.ports import LeaseBook


class FleetHours:
    """The time windows of one sweep and of the hosts that can run its cells."""

    def __init__(self, plan: Plan, leases: LeaseBook) -> None:
        self._windows = calendars(plan.windows)
        self._leases = leases
        self._queues = CellQueues(plan)

    def left_s(self, hosts: Iterable[Host]) -> float | None:
        """Say for how long a cell may run that begins now; 0: none may begin; None: for ever."""
        own_s = left_s(self._windows, self._leases.now()) if self._windows else None
        lives = [host.left_s for host in self._queues.able(hosts) if host.hindrance is None]
        # while no host works nobody knows when the next one closes
        fleet_s = None if not lives or None in lives else max(life for life in lives if life is not None)
        return min((end for end in (own_s, fleet_s) if end is not None), default=None)


def needs_s(plan: Plan) -> tuple[float, ...]:
    """Give what each cell needs of a window, in plan order: its setup, its sessions, its checks, its upload."""
    known = dict[tuple[str, str], float]()
    for cell in plan.cells:
        if (cell.task, cell.arm) not in known:
            known[cell.task, cell.arm] = plan.needed_s(cell)
    return tuple(known[cell.task, cell.arm] for cell in plan.cells)
