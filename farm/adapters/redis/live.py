"""Live notes: one hash a sweep."""

from farm.adapters.redis.server import Server
from farm.adapters.redis.told import read_each
from farm.model import CellId, LiveNote, SweepId, canonical_json

_KEPT_S = 86_400
"""What nobody drops goes away by itself, a day after the sweep's last note."""


def live_key(sweep: SweepId) -> str:
    """Name the hash of a sweep's notes."""
    return f"farm:live:{sweep}"


class RedisLiveNotes:
    """Notes as fields of a hash, by cell."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def tell(self, sweep: SweepId, note: LiveNote) -> None:
        with self._server.answering() as client, client.pipeline(transaction=False) as pipe:
            pipe.hset(live_key(sweep), note.cell, canonical_json(note).decode())
            pipe.expire(live_key(sweep), _KEPT_S)
            pipe.execute()

    def drop(self, sweep: SweepId, cell: CellId) -> None:
        with self._server.answering() as client:
            client.hdel(live_key(sweep), cell)

    def all(self, sweep: SweepId) -> tuple[LiveNote, ...]:
        with self._server.answering() as client:
            told = client.hgetall(live_key(sweep))
        return tuple(read_each(LiveNote, (str(body) for _, body in sorted(told.items()))))
