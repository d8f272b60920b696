"""A worker's heartbeat: what works here, told to the registry every few seconds from the worker's main process."""

import threading
from collections.abc import Callable

import structlog

from farm.errors import FarmError
from farm.model import Host
from farm.ports import Clock, HostRegistry

_log = structlog.get_logger()

BEAT_S = 5.0
TTL_S = 15.0


class Heartbeat:
    """Beats in a thread of its own until the process ends; a registry that takes no beat is offered the next."""

    def __init__(self, hosts: HostRegistry, facts: Callable[[], Host], clock: Clock, beat_s: float = BEAT_S) -> None:
        self._hosts = hosts
        self._facts = facts
        self._clock = clock
        self._beat_s = beat_s

    def start(self) -> None:
        threading.Thread(target=self._run, name="heartbeat", daemon=True).start()

    def _run(self) -> None:
        said = ""
        while True:
            try:
                self._hosts.beat(self._facts(), TTL_S)
            except FarmError as error:
                if str(error) != said:
                    said = str(error)
                    _log.warning("heartbeat.unanswered", problem=said)
            self._clock.sleep(self._beat_s)
