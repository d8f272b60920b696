"""A container's death: from when it is to end it has 5 s until that is proven, else this host is unhealthy.

Its removal comes after that and may take the engine longer.
"""

import time
from threading import Thread

from sandbox.backends.docker.engine import Ended, Engine

_DEATH_S = 5.0
_LEAST_S = 0.1
"""So long at least the engine is asked, for the last time."""


class Death:
    """What ends one container, proves it dead and removes it."""

    def __init__(self, engine: Engine, container: str) -> None:
        self._engine, self._container = engine, container
        self._deadline: float | None = None
        self._killing: Thread | None = None
        self._ended: Ended | None = None

    @property
    def rest_s(self) -> float:
        """Tell how long it may still take; the time begins when this is asked first."""
        if self._deadline is None:
            self._deadline = time.monotonic() + _DEATH_S
        return max(_LEAST_S, self._deadline - time.monotonic())

    def kill(self) -> None:
        """Kill it, beside us: the engine answers only once somebody has heard what the dead container wrote."""
        self._killing = Thread(target=self._engine.kill, args=(self._container,), daemon=True)
        self._killing.start()

    def proven(self) -> Ended:
        """Wait until it is dead and tell how it died. Raises SandboxUnhealthyError when the time is over."""
        if self._ended is None:
            if self._killing is not None:  # before we speak with the engine on the same connection
                self._killing.join(self.rest_s)
            self._ended = self._engine.wait(self._container, self.rest_s)
        return self._ended

    def bury(self) -> None:
        """Remove it, killed first unless it is known to be dead; who is not dead is left to `Docker.reap`."""
        if self._ended is None:
            self.kill()
            self.proven()
        self._engine.remove(self._container)
