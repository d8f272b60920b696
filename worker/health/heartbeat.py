"""A worker's heartbeat: what works here, told to the registry every few seconds from the worker's main process.

Between two beats it looks every second what else the farm wants of this host.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import structlog

from farm.errors import FarmError, TransientError
from farm.model import Host
from farm.ports import Clock, HostRegistry, LeaseBook

_log = structlog.get_logger()

TTL_S = 15.0


@dataclass(frozen=True, slots=True)
class Tempo:
    """How often the heart beats, and how often it looks in between."""

    beat_s: float = 5.0
    look_s: float = 1.0


class Heartbeat:
    """Beats in a thread of its own until the process ends; a registry that takes no beat is offered the next.

    `look` is given what the last beat said; what it says is news is told at once.
    """

    def __init__(
        self,
        hosts: HostRegistry,
        facts: Callable[[], Host],
        look: Callable[[Host], bool],
        clock: Clock,
        tempo: Tempo | None = None,
    ) -> None:
        self._hosts = hosts
        self._facts = facts
        self._look = look
        self._clock = clock
        self._tempo = tempo or Tempo()
        self._said = ""

    def start(self) -> None:
        threading.Thread(target=self._run, name="heartbeat", daemon=True).start()

    def _run(self) -> None:
        while True:
            host = self._facts()
            until_s = self._clock.monotonic() + self._tempo.beat_s
            self._try(partial(self._hosts.beat, host, TTL_S))
            while not self._try(partial(self._look, host)):
                self._clock.sleep(self._tempo.look_s)
                if self._clock.monotonic() >= until_s:
                    break

    def _try(self, ask: Callable[[], bool | None]) -> bool:
        try:
            return ask() or False
        except FarmError as error:
            if str(error) != self._said:
                self._said = str(error)
                _log.warning("heartbeat.unanswered", problem=self._said)
        return False


def skew_s(book: LeaseBook, clock: Clock) -> float | None:
    """Measure how far our clock is ahead of the lease book's, to half of what an answer takes."""
    try:
        asked_at, told, heard_at = clock.now(), book.now(), clock.now()
    except TransientError:
        return None
    return (asked_at + (heard_at - asked_at) / 2 - told).total_seconds()
