"""The Celery app of a worker: `celery -A worker.app worker -P prefork -c <slots>`.

The main process proves the sandbox, clears what dead workers left, and sends the host's heartbeat; each pool child is
a slot with a line and connections of its own. Celery makes its children die with their parent, and the sandbox makes
its guests die with the child: kill -9 of the main process ends every cell.
"""

import os
import sys
import warnings
from dataclasses import dataclass, field
from typing import Any

from celery import signals
from celery.exceptions import SecurityWarning
from celery.worker import state

from farm.errors import SpecError
from farm.model import Ticket
from worker import bootstrap
from worker.cell.line import CellLine
from worker.health.duty import Duty
from worker.health.fitness import Fitness
from worker.health.shutdown import ShutdownFlag
from worker.tasks import carry


@dataclass
class _Process:
    """What this process holds; flag and fitness are shared by all of them."""

    flag: ShutdownFlag = field(default_factory=ShutdownFlag)
    fitness: Fitness = field(default_factory=Fitness)
    line: CellLine | None = None
    duty: Duty | None = None
    """Of the main process."""
    is_ending: bool = False

    def run(self, ticket: Ticket) -> None:
        if self.line is None:
            self.line = bootstrap.make_line(self.flag, self.fitness)
        carry(self.line, ticket)


# A worker may be root: tickets are JSON, and what a guest runs as is the sandbox's to say.
warnings.simplefilter("ignore", SecurityWarning)

_process = _Process()
app = bootstrap.make_app(bootstrap.tickets_url())
app.conf.update(worker_redirect_stdouts=False, worker_hijack_root_logger=False)
bootstrap.register(app, _process.run)


@signals.worker_init.connect
def _prepare_host(**_: object) -> None:
    if os.geteuid() == 0:
        os.umask(0o022)  # the slots' users must pass through what we make, whatever our shell had
    try:
        bootstrap.configure_logs()
        bootstrap.ensure_fit()
        bootstrap.open_store()
        bootstrap.clear_root()
        bootstrap.warm_up()
        _process.duty = bootstrap.make_duty(_process.fitness)
        _select(bootstrap.first_queues(_process.duty))
    except SpecError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(error.exit_code) from error


def _select(queues: frozenset[str]) -> None:
    """Choose what the consumer, which is not there yet, begins with."""
    app.amqp.queues.deselect([*app.amqp.queues])
    for name in queues:
        app.amqp.queues.select_add(bootstrap.queue_named(name))


@signals.worker_ready.connect
def _start_heart(sender: Any, **_: object) -> None:  # noqa: ANN401 (celery's consumer has no type)
    bootstrap.watch_lifeline()
    bootstrap.make_rounds().start()
    if _process.duty is None:
        return

    def take_from(queues: frozenset[str]) -> None:
        sender.call_soon(bootstrap.take_from, sender, queues)

    pool = bootstrap.Pool(sender.controller.concurrency, lambda: len(state.active_requests), take_from)
    bootstrap.make_heartbeat(pool, _process.duty).start()


@signals.task_received.connect
def _leave_tickets_to_others(sender: Any, **_: object) -> None:  # noqa: ANN401 (celery's consumer has no type)
    """Once unfit, take no ticket after this one: another worker could run what a slot here only refuses."""
    if _process.fitness.problem is not None:
        sender.call_soon(bootstrap.take_from, sender, frozenset())


@signals.worker_shutting_down.connect
def _end(**_: object) -> None:
    """Let running cells finish at the first call, within the grace if there is one; stop them at the second.

    Where somebody waits for us the first call is the second.
    """
    if _process.is_ending or bootstrap.has_lifeline():
        _process.flag.raise_it()
    else:
        bootstrap.start_grace(_process.flag)
    _process.is_ending = True


@signals.worker_process_init.connect
def _prepare_slot(**_: object) -> None:
    bootstrap.configure_logs()


@signals.worker_process_shutdown.connect
def _leave_slot(**_: object) -> None:
    if _process.line is not None:
        _process.line.close()
