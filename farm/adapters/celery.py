"""Tickets through Celery on Redis. Each setting below was measured or has its reason in ops/adr/0001."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from celery import Celery
from kombu import Exchange, Queue
from kombu.exceptions import OperationalError
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
    "broker_transport_options": _TRANSPORT,
}
_RETRY = {"max_retries": 1, "interval_start": 0.1, "interval_step": 0.2, "interval_max": 0.5}


def broker_url(redis_url: str) -> str:
    """Turn a farm's Redis URL into Celery's form: they differ for unix sockets only."""
    parts = urlsplit(redis_url)
    match parts.scheme:
        case "redis" | "rediss":
            return redis_url
        case "unix":
            asked = parse_qs(parts.query)
            login = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
            query = urlencode({"virtual_host": asked.get("db", ["0"])[0]})
            return f"redis+socket://{login}{parts.path}?{query}"
        case _:
            raise SpecError(
                f"Redis URL of scheme {parts.scheme!r} can't carry tickets; "
                "write redis://host:6379/0 or unix:///path?db=0 in FARM_REDIS_URL"
            )


def make_app(redis_url: str) -> Celery:
    """Make the Celery app that senders and workers share; nothing is asked of the broker yet."""
    app = Celery("farm", broker=broker_url(redis_url), set_as_current=False)
    app.conf.update(_SETTINGS)
    return app


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

    def send(self, ticket: Ticket) -> None:
        try:
            self._app.send_task(
                RUN_CELL,
                args=[ticket.model_dump(mode="json")],
                queue=self._known(ticket.queue),
                argsrepr="-",  # ids would be repeated in a header for logs
                kwargsrepr="-",
                retry=True,
                retry_policy=_RETRY,
            )
        except (OperationalError, TimeoutError) as error:
            raise TransientError(f"the broker did not take ticket {ticket.cell}: {error}", retry_after_s=1.0) from error

    def _known(self, name: str) -> str:
        """Make a queue known to the app, which sends to no other."""
        if name not in self._app.amqp.queues:
            self._app.amqp.queues.add(queue_named(name))
        return name
