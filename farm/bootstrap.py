"""The composition root: here, and nowhere else in `farm`, adapters are named and settings are read.

Everything below gets plain values and ports. The clients of Redis and Celery are imported by the verbs that reach them:
they take longer to import than most verbs take.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from farm.adapters import local_provider, local_worker, memory, system_clock
from farm.errors import SpecError
from farm.model import Opening, Plan, SweepId, Ticket, parse_record
from farm.model.keys import SWEEPS, open_key, plan_key
from farm.plugins import Plugins
from farm.ports import (
    Clock,
    Dispatcher,
    DrainOrders,
    Events,
    HostRegistry,
    Leadership,
    LeaseBook,
    LiveNotes,
    Queues,
    Shares,
    Signals,
    Store,
    read_required,
)
from farm.settings import FarmSettings, read

_MOST_NAMED = 5

LocalWorker = local_worker.LocalWorker
Settings = FarmSettings
"""For verbs to name the types of what they pass on."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What passes through Redis: all of it may be lost without losing a result."""

    url: str
    shown_url: str
    """For people: without what is secret."""
    leases: LeaseBook
    signals: Signals
    hosts: HostRegistry
    orders: DrainOrders
    events: Events
    leadership: Leadership
    live: LiveNotes
    dispatcher: Dispatcher
    queues: Queues
    shares: Shares


def read_settings() -> FarmSettings:
    """Read FARM_* from the environment; raise SpecError naming the variable that is wrong."""
    return read(FarmSettings)


def clock() -> Clock:
    return system_clock.SystemClock()


def plugins() -> Plugins:
    return Plugins()


def store_in_memory() -> memory.MemoryStore:
    """Give an empty store that ends with this command."""
    return memory.MemoryStore()


def open_store(url: str | None, settings: FarmSettings) -> Store:
    """Open the store at `url`, or the one that the settings name."""
    place = url or settings.store_url
    if "://" not in place:
        place = Path(place).absolute().as_uri()
    opener = plugins().load("stores", urlsplit(place).scheme)
    store: Store = opener(place, settings.store_access)
    return store


def known_sweep(store: Store, sweep: SweepId) -> Plan:
    """Read a sweep's plan; raise SpecError that names the store's sweeps when there is no such one."""
    body = store.records.read(plan_key(sweep))
    if body is not None:
        return parse_record(Plan, body, plan_key(sweep))
    known = sweeps(store)
    listed = ", ".join(known[-_MOST_NAMED:]) or "none"
    raise SpecError(f"{store.url} holds no sweep {sweep!r}; the last of its {len(known)} sweeps: {listed}")


def opening(store: Store, sweep: SweepId) -> Opening:
    """Read when, by whom and in how many shards a known sweep was opened."""
    return parse_record(Opening, read_required(store.records, open_key(sweep)), open_key(sweep))


def sweeps(store: Store) -> list[SweepId]:
    """List the sweeps that the store holds."""
    return [SweepId(key.split("/")[1]) for key in store.records.keys(SWEEPS) if key.endswith("/plan.json")]


def connect(url: str, tickets_url: str | None = None) -> Exchange:
    """Connect to Redis and Celery; raise TransientError when Redis is down, SpecError when the URL is wrong.

    `tickets_url` names who carries tickets, if it is not the Redis; nothing is asked of it yet.
    """
    from farm.adapters import redis  # noqa: PLC0415 (see above)

    server = redis.connect(url)
    server.ping()
    return Exchange(
        url=url,
        shown_url=server.shown_url,
        leases=server.leases,
        signals=server.signals,
        hosts=server.hosts,
        orders=server.orders,
        events=server.events,
        leadership=server.leadership,
        live=server.live,
        dispatcher=_Tickets(url) if tickets_url is None else _celery(tickets_url),
        queues=server.queues,
        shares=server.shares,
    )


def _celery(url: str) -> Dispatcher:
    from farm.adapters import celery  # noqa: PLC0415 (see above)

    return celery.CeleryDispatcher(celery.make_app(url))


class _Tickets:
    """Celery on a Redis that is known to be right: met at the first ticket."""

    def __init__(self, url: str) -> None:
        self._url = url

    @cached_property
    def _way(self) -> Dispatcher:
        return _celery(self._url)

    def send(self, ticket: Ticket) -> None:
        self._way.send(ticket)


def ping_broker(settings: FarmSettings) -> str | None:
    """Ask who carries tickets whether it answers; None where that is the Redis. Errors as `connect`."""
    if not settings.broker_url:
        return None
    from farm.adapters import celery  # noqa: PLC0415 (see above)

    return celery.ping(celery.make_app(settings.broker_url))


def redis_url(settings: FarmSettings) -> str:
    """Name the team's Redis; raise SpecError when none is set, for verbs that can't do without."""
    if settings.redis_url is None:
        raise SpecError(
            "no Redis is named: set FARM_REDIS_URL, for example redis://127.0.0.1:6379/0 "
            "(`farm run` alone needs none: it starts its own)"
        )
    return settings.redis_url


@contextmanager
def own_or_embedded_exchange(settings: FarmSettings) -> Iterator[Exchange]:
    """Connect to the named Redis, or to a private one that lives as long as the block."""
    if settings.redis_url is not None:
        yield connect(settings.redis_url, settings.tickets_url)
        return
    from farm.adapters import embedded  # noqa: PLC0415 (see above)

    with embedded.EmbeddedRedis() as server:
        yield connect(server.url)


def worker_environment(settings: FarmSettings, exchange_url: str, store_url: str) -> Mapping[str, str]:
    """Build a worker's whole environment: ours, with the farm's own places set."""
    access = settings.store_access
    named = {
        "FARM_REDIS_URL": exchange_url,
        "FARM_BROKER_URL": "" if settings.redis_url is None else settings.broker_url,
        "FARM_PRIVATE": "true" if settings.redis_url is None else None,
        "FARM_STORE": store_url,
        "FARM_S3_ENDPOINT_URL": access.endpoint_url,
        "FARM_S3_REGION": access.region,
        "FARM_S3_PATH_STYLE": "true" if access.path_style else None,
        "FARM_S3_ACCESS_KEY": access.access_key,
        "FARM_S3_SECRET_KEY": access.secret_key,
    }
    inherited = dict(os.environ)  # noqa: TID251 (a bootstrap reads the environment)
    return inherited | {name: value for name, value in named.items() if value is not None}


def local_worker_process(slots: int | None, env: Mapping[str, str], log: Path) -> LocalWorker:
    """Start a worker on this machine."""
    return local_worker.LocalWorker(local_worker.WorkerOptions(slots=slots, env=env, log=log))


def scripted_provider(script: Path) -> AbstractContextManager[str]:
    """Answer from a provider's script on this machine while the block runs; gives the URL."""
    return local_provider.serving(script)


def worker_command(*arguments: str) -> list[str]:
    """Give the argv of the worker's own command line."""
    return local_worker.worker_argv(*arguments)
