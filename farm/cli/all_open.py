"""Coordinating every open sweep of a store: a service beside the workers, in one process."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import click

from farm import bootstrap
from farm.bootstrap import Exchange
from farm.cli.drive import Drive
from farm.cli.interrupts import Interrupts
from farm.cli.open_end import coordinate_open, why_open
from farm.coordinator.loop import EndKind
from farm.errors import ConflictError, FarmError, TransientError
from farm.model import SweepId
from farm.model.keys import close_key, open_key
from farm.ports import Clock, Store

_LOOK_S = 30.0
"""Between looks for new sweeps, which list the store."""
_TICK_S = 0.5
_MOST_AT_ONCE = 64

Say = Callable[[str], None]


class OpenSweeps:
    """Leads each open sweep in a thread of its own; those that another coordinator leads are left to it."""

    def __init__(self, store: Store, exchange: Exchange, clock: Clock, say: Say) -> None:
        self._store = store
        self._exchange = exchange
        self._clock = clock
        self._say = say
        self._led = dict[SweepId, Future[str]]()
        self._left = set[SweepId]()
        """Sweeps that wait for a person: they are not taken up again."""

    def lead(self, should_stop: Callable[[], bool]) -> None:
        """Go on until `should_stop`; a bug in one sweep's coordinator ends them all."""
        looked_s = -_LOOK_S
        with ThreadPoolExecutor(_MOST_AT_ONCE, thread_name_prefix="sweep") as threads:
            is_ending = False

            def ends() -> bool:
                return is_ending or should_stop()

            try:
                while not ends():
                    self._collect()
                    if self._clock.monotonic() - looked_s >= _LOOK_S:
                        looked_s = self._clock.monotonic()
                        for sweep in self._new():
                            self._led[sweep] = threads.submit(self._coordinate, sweep, ends)
                    self._clock.sleep(_TICK_S)
            finally:
                is_ending = True

    def _new(self) -> list[SweepId]:
        """List the open sweeps that nobody here leads."""
        try:
            known = bootstrap.sweeps(self._store)
            here = self._led.keys() | self._left
            return [sweep for sweep in known if sweep not in here and self._is_open(sweep)]
        except TransientError as error:
            self._say(f"the store did not answer: {error}")
            return []

    def _is_open(self, sweep: SweepId) -> bool:
        read = self._store.records.read
        return read(open_key(sweep)) is not None and read(close_key(sweep)) is None

    def _collect(self) -> None:
        """Say what ended; what ended for an outage's or another coordinator's sake is looked at again."""
        for sweep in [sweep for sweep, future in self._led.items() if future.done()]:
            future = self._led.pop(sweep)
            match future.exception():
                case None:
                    self._left.add(sweep)
                    self._say(f"{sweep}: {future.result()}")
                case ConflictError():
                    pass  # it is coordinated elsewhere; should that one die, it is ours
                case TransientError() as error:
                    self._say(f"{sweep}: {error}")
                case FarmError() as error:
                    self._left.add(sweep)
                    self._say(f"{sweep}: {error}")
                case BaseException() as bug:
                    raise bug

    def _coordinate(self, sweep: SweepId, should_stop: Callable[[], bool]) -> str:
        plan = bootstrap.known_sweep(self._store, sweep)
        drive = Drive(sweep, self._store, self._exchange, self._clock)
        end = coordinate_open(drive, plan, should_stop, lambda _: None)
        if end.left_open is not None:
            return why_open(end.left_open, plan, self._clock.now())
        if end.kind is EndKind.INTERRUPTED:
            return "left open"
        return f"{end.close.reason if end.close else end.kind}; next:  farm finalize {sweep}"


def coordinate_all(store: Store, exchange: Exchange) -> None:
    """Lead every open sweep of the store until a person, or the service's manager, ends it."""
    with Interrupts() as interrupts:
        leading = OpenSweeps(store, exchange, bootstrap.clock(), partial(click.echo, err=True))
        leading.lead(lambda: interrupts.asked_to_stop)
