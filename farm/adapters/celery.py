"""Tickets through Celery, on Redis or RabbitMQ. Each setting below was measured or has its reason in ops/adr/0001."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from celery import Celery
from kombu import Exchange, Queue
from kombu.exceptions import OperationalError
from kombu.transport import TRANSPORT_ALIASES
from pydantic import JsonValue

from farm.errors import SpecError, TransientError
from farm.model import ANYWHERE, Ticket

RUN_CELL = "worker.run_cell"
"""The one Celery task: its only argument is a ticket as a JSON object."""

_VISIBILITY_S = 300
"""With early acknowledgement it covers only the instant between a pop and its start; far above any clock's error."""
_TRANSPORT: dict[str, object] = {
    "visibility_timeout": _VISIBILITY_S,
    "unacked_restore_interval": 5,  # kombu's own cadence is one look in 100 s
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 5,
    "socket_timeout": 15,
    "socket_keepalive": True,
    "health_check_interval": 25,  # a half-open connection is dropped within twice this
    "global_keyprefix": "farm:celery:",  # the farm's own keys are farm:<other word>:
    "max_connections": 20,
    "client_name": "farm-celery",
}
_SETTINGS: dict[str, object] = {
    "result_backend": None,
    "task_ignore_result": True,
    "task_acks_late": False,  # late acknowledgement makes Celery 5.7 workers exit when Redis restarts
    "worker_disable_prefetch": True,  # a prefetched ticket would wait behind a long cell
    "worker_prefetch_multiplier": 1,
    "task_reject_on_worker_lost": False,
    "worker_cancel_long_running_tasks_on_connection_loss": False,  # the lease decides, not the connection
    "worker_enable_remote_control": True,
    "worker_send_task_events": False,
    "task_send_sent_event": False,
    "broker_connection_retry_on_startup": True,
    "broker_connection_retry": True,
    "broker_connection_max_retries": None,
    "broker_pool_acquire_timeout": 30,  # the default blocks for ever
    "task_serializer": "json",
    "accept_content": ["json"],
    "task_create_missing_queues": False,
    "task_default_queue": ANYWHERE,
    "task_time_limit": None,
    "task_soft_time_limit": None,
    "visibility_timeout": _VISIBILITY_S,  # the shortest among the apps of one broker wins: state it everywhere
}
_ON_REDIS: dict[str, object] = {"broker_transport_options": _TRANSPORT}
_ON_RABBITMQ: dict[str, object] = {
    "worker_disable_prefetch": False,  # there is no such thing there: each slot holds one ticket back
    "broker_heartbeat": 10,
    "broker_transport_options": {
        "confirm_publish": True,  # else a ticket that the broker never got counts as sent
        "connect_timeout": 5,
        "read_timeout": 15,
        "write_timeout": 15,
    },
}
_PING_S = 5
_REFUSALS = {403, 530}
"""AMQP's codes of who is not let in, and of a virtual host that is not there."""
_PATIENT = "farm.adapters.celery_transport:PatientTransport"
"""By name: it is imported by whoever connects."""
_RETRY = {"max_retries": 1, "interval_start": 0.1, "interval_step": 0.2, "interval_max": 0.5}


def broker_url(farm_url: str) -> str:
    """Turn a farm's URL into Celery's form: they differ for unix sockets only."""
    parts = urlsplit(farm_url)
    match parts.scheme:
        case "redis" | "rediss" | "amqp" | "amqps":
            return farm_url
        case "unix":
            asked = parse_qs(parts.query)
            login = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
            query = urlencode({"virtual_host": asked.get("db", ["0"])[0]})
            return f"redis+socket://{login}{parts.path}?{query}"
        case _:
            raise SpecError(
                f"a URL of scheme {parts.scheme!r} can't carry tickets; write redis://host:6379/0 or "
                "unix:///path?db=0 in FARM_REDIS_URL, or amqp://user:password@host:5672/ in FARM_BROKER_URL"
            )


def make_app(farm_url: str) -> Celery:
    """Make the Celery app that senders and workers share; nothing is asked of the broker yet."""
    url = broker_url(farm_url)
    TRANSPORT_ALIASES.update(dict.fromkeys(("redis", "rediss"), _PATIENT))
    app = Celery("farm", broker=url, set_as_current=False)
    app.conf.update(_SETTINGS | (_ON_RABBITMQ if url.startswith("amqp") else _ON_REDIS))
    return app


@dataclass(frozen=True, slots=True)
class _Broker:
    """Who carries tickets, and how its client says that it does not."""

    place: str
    """Its URL, without what is secret in it."""
    errors: tuple[type[BaseException], ...]

    @classmethod
    def of(cls, app: Celery) -> "_Broker":
        connection = app.connection_for_write()
        errors: list[Any] = [*connection.connection_errors, *connection.channel_errors]
        return cls(connection.as_uri(), (OperationalError, OSError, *errors))

    @contextmanager
    def answering(self, what: str) -> Iterator[None]:
        """Turn what the broker's client raises into the farm's errors."""
        try:
            yield
        except self.errors as error:
            if {getattr(error, "reply_code", None), getattr(error.__cause__, "reply_code", None)} & _REFUSALS:
                raise SpecError(
                    f"the broker {self.place} refused us ({error}); see to the user, password and "
                    "virtual host in FARM_BROKER_URL"
                ) from error
            raise TransientError(f"the broker {self.place} {what}: {error}", retry_after_s=1.0) from error


def ping(app: Celery) -> str:
    """Ask the broker whether it is there and lets us in; return its URL without what is secret in it."""
    broker = _Broker.of(app)
    with broker.answering("did not answer"), app.connection_for_write() as connection:
        connection.ensure_connection(max_retries=1, timeout=_PING_S)
    return broker.place


def queue_named(name: str) -> Queue:
    """Describe a queue of tickets; senders and takers must describe it alike."""
    return Queue(name, Exchange(ANYWHERE, type="direct"), routing_key=name)


def register(app: Celery, run: Callable[[Ticket], None]) -> None:
    """Make `run` what a worker of `app` does with each ticket."""

    def run_cell(ticket: dict[str, JsonValue]) -> None:
        run(Ticket.model_validate(ticket))

    app.task(name=RUN_CELL, ignore_result=True)(run_cell)


def take_from(consumer: Any, queues: frozenset[str]) -> None:  # noqa: ANN401 (celery's consumer has no type)
    """Let a worker's consumer take from just these queues; call it in the consumer's own thread.

    What it takes from it goes on with by itself when its connection breaks.
    """
    if consumer.task_consumer is None:  # its connection is broken: it is told again in a moment
        return
    for name in sorted(queues):
        if not consumer.task_consumer.consuming_from(name):
            consumer.app.amqp.queues.add(queue_named(name))
            consumer.add_task_queue(name)
    for queue in tuple(consumer.task_consumer.queues):
        if queue.name not in queues:
            consumer.cancel_task_queue(queue.name)


class CeleryDispatcher:
    """Sends tickets as Celery messages."""

    def __init__(self, app: Celery) -> None:
        self._app = app

    @cached_property
    def _broker(self) -> _Broker:
        return _Broker.of(self._app)

    def send(self, ticket: Ticket) -> None:
        with self._broker.answering(f"did not take ticket {ticket.cell}"):
            self._app.send_task(
                RUN_CELL,
                args=[ticket.model_dump(mode="json")],
                queue=self._known(ticket.queue),
                argsrepr="-",  # ids would be repeated in a header for logs
                kwargsrepr="-",
                retry=True,
                retry_policy=_RETRY,
            )

    def _known(self, name: str) -> str:
        """Make a queue known to the app, which sends to no other."""
        if name not in self._app.amqp.queues:
            self._app.amqp.queues.add(queue_named(name))
        return name
