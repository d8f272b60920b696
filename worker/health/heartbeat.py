"""A worker's heartbeat: what works here, told to the registry every few seconds from the worker's main process.

Between two beats it looks every second what else the farm wants of this host.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

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
        self._told: Host | None = None
        self._said = ""

    def start(self) -> None:
        threading.Thread(target=self._run, name="heartbeat", daemon=True).start()

    def _run(self) -> None:
        due_s = self._clock.monotonic()
        while True:
            if self._try(self._see) or self._clock.monotonic() >= due_s:
                self._try(self._beat)
                due_s = self._clock.monotonic() + self._tempo.beat_s
            self._clock.sleep(self._tempo.look_s)

    def _beat(self) -> bool:
        self._told = self._facts()
        self._hosts.beat(self._told, TTL_S)
        return True

    def _see(self) -> bool:
        return self._told is not None and self._look(self._told)

    def _try(self, ask: Callable[[], bool]) -> bool:
        try:
            return ask()
        except (FarmError, OSError) as error:
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
