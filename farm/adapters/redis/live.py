"""Live notes: one hash a sweep."""

from farm.adapters.redis.server import Server
from farm.errors import IntegrityError
from farm.model import CellId, LiveNote, SweepId, canonical_json, parse_record

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
        return tuple(note for _, body in sorted(told.items()) if (note := _read(str(body))) is not None)


def _read(body: str) -> LiveNote | None:
    """Read a note; one of another version of the farm is nobody's loss."""
    try:
        return parse_record(LiveNote, body.encode(), "a live note")
    except IntegrityError:
        return None
