"""Hints from workers, one list a sweep."""

import time
from typing import cast

from farm.adapters.redis.server import Server
from farm.adapters.redis.told import read_each
from farm.model import CellEvent, SweepId

_MOST_AT_ONCE = 1000
_LONGEST_BLOCK_S = 5.0
"""Well below the socket's time-out, which must not end a wait that is only quiet."""
_KEPT_S = 86_400
"""Hints that nobody takes go away by themselves."""


class RedisEvents:
    """Lists of hints."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def publish(self, sweep: SweepId, event: CellEvent) -> None:
        key = _key(sweep)
        with self._server.answering() as client, client.pipeline(transaction=False) as both:
            both.rpush(key, event.model_dump_json())
            both.expire(key, _KEPT_S)
            both.execute()

    def receive(self, sweep: SweepId, timeout_s: float) -> tuple[CellEvent, ...]:
        until = time.monotonic() + timeout_s
        told = self._take(sweep)
        while not told and (left := until - time.monotonic()) > 0:
            told = self._wait(sweep, min(left, _LONGEST_BLOCK_S))
        return tuple(read_each(CellEvent, told))

    def _take(self, sweep: SweepId) -> list[str]:
        with self._server.answering() as client:
            return cast("list[str] | None", client.lpop(_key(sweep), _MOST_AT_ONCE)) or []

    def _wait(self, sweep: SweepId, longest_s: float) -> list[str]:
        with self._server.answering() as client:
            first = cast("list[str] | None", client.blpop([_key(sweep)], timeout=max(0.01, longest_s)))
        return [] if first is None else [first[1], *self._take(sweep)]


def _key(sweep: SweepId) -> str:
    return f"farm:events:{sweep}"
