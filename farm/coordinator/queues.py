"""Which queue a cell's tickets go to: the one of what its arm and its task's image need."""

from collections.abc import Iterable

from farm.coordinator.lanes import NO_HOST
from farm.model import Cell, Host, Plan, lacking, needs, offers, queue_of

QUEUE_TTL_S = 3600.0
"""Hosts go on taking what is queued while no coordinator is there to say that it is."""


class CellQueues:
    """The queues of one plan's cells."""

    def __init__(self, plan: Plan) -> None:
        images = {task.id: task.image for task in plan.tasks}
        needed = {(arm.name, image): needs(plan, arm, image) for arm in plan.arms for image in set(images.values())}
        self.needed = tuple(sorted(set(needed.values()), key=queue_of))
        """What hosts must offer, for each of the queues."""
        names = {key: queue_of(found) for key, found in needed.items()}
        self._names = {(task, arm.name): names[arm.name, image] for arm in plan.arms for task, image in images.items()}

    def lanes(self, plan: Plan) -> tuple[int, ...]:
        """Give each cell's lane: its queue's place in `needed`; what is taken over needs no host."""
        numbers = {queue_of(needed): number for number, needed in enumerate(self.needed)}
        by_kind = {kind: numbers[name] for kind, name in self._names.items()}
        return tuple(NO_HOST if cell.id in plan.reused else by_kind[cell.task, cell.arm] for cell in plan.cells)

    def closed(self, hosts: Iterable[Host]) -> frozenset[int]:
        """Give the numbers of the queues from which none of `hosts` takes now."""
        served = self.served(hosts)
        return frozenset(number for number, needed in enumerate(self.needed) if queue_of(needed) not in served)

    def of(self, cell: Cell) -> str:
        """Name the cell's queue."""
        return self._names[cell.task, cell.arm]

    def able(self, hosts: Iterable[Host]) -> tuple[Host, ...]:
        """Pick the hosts that can run some of the plan's cells."""
        return tuple(host for host in hosts if self.served((host,)))

    def served(self, hosts: Iterable[Host]) -> frozenset[str]:
        """Name the queues that one of `hosts` takes from."""
        offered = [offers(host) for host in hosts]
        return frozenset(
            queue_of(needed) for needed in self.needed if any(not lacking(needed, found) for found in offered)
        )


def providers(plan: Plan) -> tuple[str | None, ...]:
    """Name whom each cell will ask, in plan order; nothing when no arm names a provider."""
    named = {arm.name: arm.provider for arm in plan.arms}
    if not any(named.values()):
        return ()
    return tuple(None if cell.id in plan.reused else named[cell.arm] for cell in plan.cells)
