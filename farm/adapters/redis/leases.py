"""The lease book in five keys a sweep. What it knows of a cell goes when the cell has a result and no lease, but a bit.

gate       hash: `open`, `paused_from`
attempts   hash: cell -> the highest attempt that was announced, claimed or renewed
results    bitmap by index: the cells that have one
holders    hash: cell -> `<attempt> <index> <holder>` of the last lease, also when it has ended
deadlines  sorted set: cell -> when its lease ends, in the server's milliseconds
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from farm.adapters.redis.server import Server, milliseconds
from farm.adapters.redis.signals import stop_key
from farm.model import CellId, Lease, Refusal, StopReason, SweepId, Ticket
from farm.ports import Renewal

_KEPT_S = 30 * 86_400
"""What nobody uses any more goes away by itself: a sweep that is never sealed, a word that comes after its end."""


@dataclass(frozen=True, slots=True)
class _Keys:
    gate: str
    attempts: str
    results: str
    holders: str
    deadlines: str

    @classmethod
    def of(cls, sweep: SweepId) -> "_Keys":
        names = ("gate", "attempts", "results", "holders", "deadlines")
        return cls(*(f"farm:leases:{sweep}:{name}" for name in names))


class RedisLeases:
    """Leases; each method is one command or one script."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._open = server.script("open")
        self._announce = server.script("announce")
        self._settle = server.script("settle")
        self._claim = server.script("claim")
        self._renew = server.script("renew")
        self._release = server.script("release")
        self._live = server.script("live")

    def now(self) -> datetime:
        with self._server.answering() as client:
            seconds, microseconds = client.time()
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=microseconds)

    def open_sweep(self, sweep: SweepId, paused_from: int | None = None) -> None:
        paused = "" if paused_from is None else paused_from
        self._open.run((_Keys.of(sweep).gate,), paused, _KEPT_S)

    def close_sweep(self, sweep: SweepId) -> None:
        with self._server.answering() as client:
            client.hdel(_Keys.of(sweep).gate, "open")

    def announce(self, ticket: Ticket) -> None:
        self._announce.run((_Keys.of(ticket.sweep).attempts,), ticket.cell, ticket.attempt, _KEPT_S)

    def settle(self, sweep: SweepId, cell: CellId, index: int) -> None:
        keys = _Keys.of(sweep)
        self._settle.run((keys.results, keys.attempts, keys.holders, keys.deadlines), cell, index, _KEPT_S)

    def claim(self, ticket: Ticket, holder: str, ttl_s: float) -> Lease | Refusal:
        keys = _Keys.of(ticket.sweep)
        lease = Lease(sweep=ticket.sweep, cell=ticket.cell, index=ticket.index, attempt=ticket.attempt, holder=holder)
        answer = self._claim.run(
            (keys.gate, keys.attempts, keys.results, keys.holders, keys.deadlines),
            *_arguments(lease),
            milliseconds(ttl_s),
            _KEPT_S,
        )
        return lease if answer == "granted" else Refusal(answer)

    def renew(self, lease: Lease, ttl_s: float) -> Renewal:
        keys = _Keys.of(lease.sweep)
        is_held, *stop = self._renew.run(
            (keys.attempts, keys.holders, keys.deadlines, stop_key(lease.sweep), keys.results),
            *_arguments(lease),
            milliseconds(ttl_s),
            _KEPT_S,
        )
        return Renewal(is_held=is_held == 1, stop=StopReason(stop[0]) if stop and stop[0] else None)

    def release(self, lease: Lease) -> None:
        keys = _Keys.of(lease.sweep)
        self._release.run((keys.attempts, keys.holders, keys.deadlines, keys.results), *_arguments(lease))

    def live(self, sweep: SweepId) -> tuple[Lease, ...]:
        keys = _Keys.of(sweep)
        found: list[str] = self._live.run((keys.holders, keys.deadlines))
        leases = (_lease(sweep, cell, told) for cell, told in zip(found[::2], found[1::2], strict=True))
        return tuple(sorted(leases, key=lambda lease: lease.index))

    def forget(self, sweep: SweepId) -> None:
        keys = _Keys.of(sweep)
        with self._server.answering() as client:
            client.unlink(keys.gate, keys.attempts, keys.results, keys.holders, keys.deadlines)


def _arguments(lease: Lease) -> tuple[str | int, ...]:
    return (lease.cell, lease.index, lease.attempt, lease.holder)


def _lease(sweep: SweepId, cell: str, told: str) -> Lease:
    attempt, index, holder = told.split(" ", 2)
    return Lease(sweep=sweep, cell=CellId(cell), index=int(index), attempt=int(attempt), holder=holder)
