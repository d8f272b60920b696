"""The rounds of a worker's main process: what a slot that died had left is cleared away while the others work."""

import threading
from collections.abc import Callable

import structlog

from farm.errors import FarmError
from farm.ports import Clock

_log = structlog.get_logger()

EVERY_S = 2.0


class Rounds:
    """Goes round in a thread of its own until the process ends; what can't be cleared is looked at again."""

    def __init__(self, clear: Callable[[], int], clock: Clock) -> None:
        self._clear = clear
        self._clock = clock
        self._said = ""

    def start(self) -> None:
        threading.Thread(target=self._run, name="rounds", daemon=True).start()

    def _run(self) -> None:
        while True:
            self._clock.sleep(EVERY_S)
            try:
                self._clear()
            except (FarmError, OSError) as error:
                if str(error) != self._said:
                    self._said = str(error)
                    _log.warning("leftovers.kept", problem=self._said)
