"""A bubblewrap that was started to be a room: see `tool_rooms`."""

from dataclasses import replace

from sandbox.backends import failures, plan
from sandbox.errors import SandboxError
from sandbox.limits import Group, Usage
from sandbox.process.launch import Running
from sandbox.process.tree import Ending
from sandbox.spec import SandboxSpec, Stream
from sandbox.streams import Outlet

_HEAD_BYTES = 4096


def used(spec: SandboxSpec, ending: Ending, group: Group | None) -> Usage:
    """Give the account of a tree that is dead; a bind in the place of /tmp has no size of ours to run into."""
    known = Usage(ending.cpu_s, None, None, ()) if group is None else group.usage()
    return known if plan.is_tmp_bound(spec) else replace(known, touched=(*known.touched, *ending.touched))


class BubblewrapRoom:
    """What runs, and what holds it to its limits."""

    def __init__(self, spec: SandboxSpec, running: Running, group: Group | None) -> None:
        self._spec = spec
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
        return used(self._spec, self._ending, self._group)

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
