"""Stop orders: one key a sweep, polled by every worker that runs one of its cells."""

from typing import Protocol

from farm.model import StopReason, SweepId


class Signals(Protocol):
    """Ask running cells to stop. May be lost with Redis: who wants a stop repeats it. May raise TransientError."""

    def order_stop(self, sweep: SweepId, reason: StopReason) -> None:
        """Ask every running cell of the sweep to stop."""
        ...

    def withdraw_stop(self, sweep: SweepId) -> None:
        """Take the order back, as a resumed sweep does."""
        ...

    def stop_reason(self, sweep: SweepId) -> StopReason | None:
        """Return the standing order, if any."""
        ...
