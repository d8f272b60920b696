"""A worker's own stop order: one byte that its main process and its slots share."""

import mmap

from farm.model import StopReason, SweepId
from farm.ports import Signals
from worker.health.fitness import Fitness, Rest


class ShutdownFlag:
    """Made before the fork and shared by every slot; raised once, never lowered."""

    def __init__(self) -> None:
        self._byte = mmap.mmap(-1, 1)

    def raise_it(self) -> None:
        self._byte[0] = 1

    @property
    def is_raised(self) -> bool:
        return self._byte[0] == 1


class SignalsOrShutdown:
    """Stop orders of the farm, and before them this worker's own."""

    def __init__(self, signals: Signals, flag: ShutdownFlag, fitness: Fitness) -> None:
        self._signals = signals
        self._flag = flag
        self._fitness = fitness

    def stop_reason(self, sweep: SweepId) -> StopReason | None:
        if self._flag.is_raised:
            return StopReason.SHUTDOWN
        return StopReason.DRAIN if self._fitness.rest is Rest.STOPS_CELLS else self._signals.stop_reason(sweep)
