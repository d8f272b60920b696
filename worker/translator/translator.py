"""One LiteLLM a slot process: started when a session first needs it, ended with the worker.

It stands between two doors of the worker. It knows no provider's key and reaches no address: the worker's own door,
whose socket each request names, puts the key in and meters what the provider answers.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from farm.errors import TransientError
from farm.model import Wire
from farm.ports import Clock
from sandbox.process.waiting import is_waited_for
from worker.translator.child import Child, start

SPOKEN = Wire.ANTHROPIC
"""What agents speak to it."""
UNDERSTOOD = (Wire.RESPONSES, Wire.CHAT)
"""What it can make of that, the better first."""
INSTALL = "pip install 'cellfarm[litellm]'"
_READY_S = 180.0
_DYING_S = 0.5
"""Its connections break a moment before it is dead."""


def has_litellm() -> bool:
    """Say whether the extra is installed."""
    return find_spec("litellm") is not None


@dataclass(frozen=True, slots=True)
class Address:
    """Where a session's requests are translated, and the key that it takes."""

    url: str
    key: str = field(repr=False)


class Translator:
    """Used by one thread, for one session at a time."""

    def __init__(self, clock: Clock, ready_s: float = _READY_S) -> None:
        self._clock = clock
        self._ready_s = ready_s
        self._child: Child | None = None

    def address(self, wire: Wire, door: Path, must_stop: Callable[[], bool]) -> Address:
        """Say where requests go that `door`, a socket, is to be asked in `wire`; LiteLLM is ready then.

        Raises TransientError when it can't be started, or is still starting when the cell must stop.
        """
        child = self._living(must_stop)
        child.shorten_log()
        return Address(f"http://127.0.0.1:{child.port}/{wire}/{quote(str(door), safe='')}", child.key)

    def ensure_alive(self) -> None:
        """Raise TransientError with the end of its log when LiteLLM has died, or is just dying."""
        if self._child is not None and is_waited_for(self._child.process, _DYING_S):
            raise TransientError(f"LiteLLM ended by itself; {self._child.tail()}")

    def close(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _living(self, must_stop: Callable[[], bool]) -> Child:
        if self._child is not None and self._child.is_alive():
            return self._child
        self.close()
        try:
            self._child = start()
        except OSError as error:
            raise TransientError(f"LiteLLM can't be started: {error}") from error
        try:
            self._child.wait_until_ready(self._clock.monotonic() + self._ready_s, self._clock, must_stop)
        except TransientError:
            self.close()
            raise
        return self._child
