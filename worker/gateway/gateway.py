"""The cell's one network door, inside the worker's slot process (ops/adr/0006, 0017)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from farm.errors import ConflictError
from farm.model import DoorReport, RequestEnd
from farm.ports import Clock
from sandbox.door import listening
from worker.gateway.values import OnPressure, Pass, Patience

if TYPE_CHECKING:
    from worker.gateway.engine import Engine
    from worker.gateway.ledger import Ledger

__all__ = ["Gateway", "OpenDoor"]


@dataclass(frozen=True, slots=True)
class OpenDoor:
    """What went through one session's door; complete when its block has ended."""

    _ledger: "Ledger"

    def report(self) -> DoorReport:
        """Sum up."""
        return self._ledger.report()

    def log(self) -> bytes:
        """Give the usage log: one JSON object a line for each request, in the order in which they ended."""
        return self._ledger.log()


class Gateway:
    """One a slot process. Its thread starts with the first door: never before the process has forked."""

    def __init__(self, clock: Clock, patience: Patience | None = None) -> None:
        self._clock = clock
        self._patience = patience or Patience()
        self._lock = Lock()  # guards the two that follow
        self._engine: Engine | None = None
        self._is_closed = False

    @contextmanager
    def open(
        self, place: Path, owner: tuple[int, int], pass_: Pass, on_pressure: OnPressure | None = None
    ) -> Iterator[OpenDoor]:
        """Listen at `place`, a new name in an existing folder, for `owner`, until the block ends.

        Raises OSError when it can't listen. When the block has ended, so has every request, and the socket is gone.
        """
        engine = self._started()
        with listening(place, owner) as listener:
            door = engine.open(listener, pass_, on_pressure or _ignore)
            try:
                yield OpenDoor(door.ledger)
            finally:
                engine.close_door(door)

    def close(self) -> None:
        """End the thread and the connections to the providers; no door can be opened any more."""
        with self._lock:
            engine, self._engine, self._is_closed = self._engine, None, True
        if engine is not None:
            engine.close()

    def _started(self) -> "Engine":
        with self._lock:
            if self._is_closed:
                raise ConflictError("the gateway is closed: its worker is ending")
            if self._engine is None:
                from worker.gateway.engine import Engine  # noqa: PLC0415 (0.4 s of aiohttp, for sessions with a door only)

                self._engine = Engine(self._patience, self._clock)
            return self._engine


def _ignore(_end: RequestEnd, _retry_after_s: float | None) -> None:
    pass
