"""The pulse of one attempt: renews the lease, looks for stop orders, and says when the right is gone.

It runs in a thread of its own. The sandbox never does: what it starts dies with the thread that started it.
"""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import structlog

from farm.errors import FarmError
from farm.model import Lease, StopReason
from farm.ports import Clock
from worker.cell.ports import Claimed, Exchange, Timing
from worker.cell.stops import StoppedError

_log = structlog.get_logger()


def _nothing() -> None:
    pass


class Pulse:
    """Beats while its block lasts, and calls `tell` with each beat.

    A reason to stop stays one, and LOST_LEASE wins over any other.
    """

    def __init__(
        self, exchange: Exchange, timing: Timing, clock: Clock, lease: Lease, tell: Callable[[], None] = _nothing
    ) -> None:
        self._exchange = exchange
        self._timing = timing
        self._clock = clock
        self._lease = lease
        self._order: StopReason | None = None
        self._is_lost = False
        self._tell = tell
        self._held_at = clock.monotonic()
        self.until_s: float | None = None
        """When the attempt's time window closes, on the clock's monotonic time; None: never."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)

    def since(self, claimed: Claimed) -> Self:
        """Count the right from its claim, and begin with what it was told there."""
        self._held_at, self._order = claimed.asked_at, claimed.stop
        return self

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join(self._timing.lease_ttl_s)

    def stop_at(self, until_s: float | None) -> None:
        """From `until_s` on the attempt must stop: its time window closes then."""
        self.until_s = until_s

    def stop_reason(self) -> StopReason | None:
        """Look why the attempt must stop now; None: go on. What was seen to be lost stays so, whatever comes later."""
        now_s = self._clock.monotonic()
        if now_s - self._held_at >= self._timing.lease_ttl_s:
            self._is_lost = True
        if self._order is None and self.until_s is not None and now_s >= self.until_s:
            self._order = StopReason.WINDOW
        return StopReason.LOST_LEASE if self._is_lost else self._order

    def must_stop(self) -> bool:
        return self.stop_reason() is not None

    def check(self) -> None:
        """Raise StoppedError when the attempt must stop."""
        reason = self.stop_reason()
        if reason is not None:
            raise StoppedError(reason)

    def confirm(self) -> bool:
        """Renew now and say whether the right stands: the fence before a record. May raise TransientError."""
        self._renew()
        return self.stop_reason() is not StopReason.LOST_LEASE

    def _beat(self) -> None:
        renewed_at, said = self._clock.monotonic(), ""
        while not self._ended.wait(self._timing.poll_s):
            try:
                if self._clock.monotonic() - renewed_at >= self._timing.beat_s:
                    self._renew()
                    renewed_at = self._clock.monotonic()
                order = self._exchange.signals.stop_reason(self._lease.sweep)
                self._order = self._order or order
                self._tell()
            except FarmError as error:  # the time since the last renewal decides
                if str(error) != said:
                    said = str(error)
                    _log.warning("pulse.unanswered", sweep=self._lease.sweep, cell=self._lease.cell, problem=said)

    def _renew(self) -> None:
        if self.stop_reason() is StopReason.LOST_LEASE:
            return
        asked_at = self._clock.monotonic()
        renewal = self._exchange.leases.renew(self._lease, self._timing.lease_ttl_s)
        if not renewal.is_held:
            self._is_lost = True
            return
        self._held_at = asked_at
        self._order = self._order or renewal.stop
