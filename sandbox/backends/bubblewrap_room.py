"""A bubblewrap that was started to be a room: see `tool_rooms`."""

from sandbox.backends import failures
from sandbox.errors import SandboxError
from sandbox.limits import Group, Usage
from sandbox.process.launch import Running
from sandbox.process.tree import Ending
from sandbox.spec import Stream
from sandbox.streams import Outlet

_HEAD_BYTES = 4096


class BubblewrapRoom:
    """What runs, and what holds it to its limits."""

    def __init__(self, running: Running, group: Group | None) -> None:
        self._running = running
        self._group = group
        self._ending: Ending | None = None

    @property
    def groups(self) -> tuple[Group, ...]:
        """Give the group, if there is one."""
        return () if self._group is None else (self._group,)

    def has_ended(self) -> bool:
        """Look whether it has ended by itself."""
        self._running.tree.observe()
        return self._running.tree.has_ended()

    def end(self) -> Usage:
        """End it and prove it dead."""
        self._ending = self._running.tree.end()
        return Usage(self._ending.cpu_s, None, None, ()) if self._group is None else self._group.usage()

    def ensure_stood(self) -> None:
        """Raise SandboxError, in bubblewrap's words, when its init never started the server."""
        if self._ending is not None and self._ending.report.startswith("started"):
            return
        stderr = Outlet(self._running.stderr, Stream.STDERR, lambda _stream, _chunk: None, _HEAD_BYTES)
        stderr.drain()
        raise SandboxError(f"the room beside the session: {failures.explain(stderr.head.decode(errors='replace'))}")

    def close(self) -> None:
        """Let go of the descriptors."""
        self._running.close()
