"""Stop orders: one key a sweep, which a worker polls every 0.25 s."""

from farm.adapters.redis.server import Server
from farm.model import StopReason, SweepId

_KEPT_S = 86_400
"""An order that nobody repeats or withdraws goes away by itself."""


def stop_key(sweep: SweepId) -> str:
    """Name the key that holds the sweep's stop order."""
    return f"farm:stop:{sweep}"


class RedisSignals:
    """Stop orders as plain keys."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def order_stop(self, sweep: SweepId, reason: StopReason) -> None:
        with self._server.answering() as client:
            client.set(stop_key(sweep), reason.value, ex=_KEPT_S)

    def withdraw_stop(self, sweep: SweepId) -> None:
        with self._server.answering() as client:
            client.delete(stop_key(sweep))

    def stop_reason(self, sweep: SweepId) -> StopReason | None:
        with self._server.answering() as client:
            told = client.get(stop_key(sweep))
        return None if told is None else StopReason(str(told))
