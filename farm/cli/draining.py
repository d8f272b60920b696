"""Orders to a host, and the wait until its workers say that they obey."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from farm import bootstrap
from farm.bootstrap import Exchange
from farm.cli.drive import submitter
from farm.errors import ConflictError, SpecError, TransientError, did_you_mean
from farm.model import DrainKind, DrainOrder, Host

_PATIENCE_S = 16.0
"""Longer than a dead worker's last heartbeat counts."""
_STOP_PATIENCE_S = 20.0
"""Longer than any process takes to stop."""
_LOOK_S = 0.2


@dataclass(frozen=True, slots=True)
class Obeyed:
    """What the workers of a host say after an order."""

    host: str
    workers: tuple[Host, ...]
    """Those that are alive."""
    others: tuple[str, ...]
    """The other hosts that are alive."""

    @property
    def running(self) -> int:
        """How many cells still run there."""
        return sum(worker.busy for worker in self.workers)

    @property
    def absent(self) -> str:
        """What to say where no worker is alive."""
        near = did_you_mean(self.host, self.others) if self.others else "no other host is alive"
        return f"no worker of {self.host} is alive; one that starts within 30 days obeys ({near})"


def give_order(host: str, kind: DrainKind) -> Obeyed:
    """Tell the host's workers and wait until all that are alive obey; raise TransientError when one does not."""
    if not host or "/" in host:
        raise SpecError(f"{host!r} is no host: name the machine, the part before the slash in `farm hosts`")
    exchange, clock = bootstrap.connect(bootstrap.redis_url(bootstrap.read_settings())), bootstrap.clock()
    order = DrainOrder(id=secrets.token_hex(8), kind=kind, by=submitter(), at=clock.now())
    exchange.orders.give(host, order)
    _wait(lambda: all(worker.order == order.id for worker in _workers(exchange, host)), _PATIENCE_S)
    if kind is DrainKind.NOW:
        _wait(lambda: all(worker.busy == 0 for worker in _workers(exchange, host)), _STOP_PATIENCE_S)
    alive = exchange.hosts.live()
    deaf = [worker.id for worker in alive if worker.name == host and worker.order != order.id]
    last = exchange.orders.last(host)
    if last is not None and last.id != order.id:
        raise ConflictError(f"{last.by} has given {host} another order meanwhile: {last.kind}")
    if deaf:
        raise TransientError(
            f"{', '.join(deaf)} has not obeyed within {_PATIENCE_S:.0f} s, though its heartbeat comes; "
            "the order stands: look at `farm hosts` and at the worker's log"
        )
    workers = tuple(worker for worker in alive if worker.name == host)
    return Obeyed(host, workers, tuple(sorted({worker.name for worker in alive} - {host})))


def _workers(exchange: Exchange, host: str) -> tuple[Host, ...]:
    return tuple(worker for worker in exchange.hosts.live() if worker.name == host)


def _wait(holds: Callable[[], bool], limit_s: float) -> None:
    clock = bootstrap.clock()
    end = clock.monotonic() + limit_s
    while not holds() and clock.monotonic() < end:
        clock.sleep(_LOOK_S)
