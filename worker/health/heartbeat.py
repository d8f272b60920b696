"""A worker's heartbeat: what works here, told to the registry every few seconds from the worker's main process."""

import threading
from collections.abc import Callable
from contextlib import suppress

from farm.errors import TransientError
from farm.model import Host
from farm.ports import HostRegistry

BEAT_S = 5.0
TTL_S = 15.0


class Heartbeat:
    """Beats in a thread of its own until the process ends; a silent registry is asked again at the next beat."""

    def __init__(self, hosts: HostRegistry, facts: Callable[[], Host], beat_s: float = BEAT_S) -> None:
        self._hosts = hosts
        self._facts = facts
        self._beat_s = beat_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Beat no more; the registry forgets the host by itself."""
        self._ended.set()
        self._thread.join(BEAT_S)

    def _run(self) -> None:
        while True:
            with suppress(TransientError):
                self._hosts.beat(self._facts(), TTL_S)
            if self._ended.wait(self._beat_s):
                return
