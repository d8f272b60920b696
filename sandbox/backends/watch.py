"""The wait for a running sandbox: one poll over its pipes and its channel, the wall timer, the caps, the stop."""

import math
import select
import time
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.process.tree import Tree
from sandbox.spec import ExitKind, Limits
from sandbox.streams import Outlet

_ASK_S = 0.08
"""Stop is promised to be asked at least every 0.1 s."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Why we end a tree that has not ended."""

    kind: ExitKind
    limit: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What nobody tells us, so that we ask now and then."""

    must_stop: Callable[[], bool]
    has_run_out: Callable[[], bool]
    """Whether memory was used up: on version 1 of control groups the rest of the tree lives on."""


class Watch:
    """Waits until the tree has ended by itself or must be ended."""

    def __init__(self, tree: Tree, outlets: tuple[Outlet, ...], limits: Limits, asked: Asked) -> None:
        self._tree = tree
        self._outlets = {outlet.fd: outlet for outlet in outlets}
        self._asked = asked
        self._wall = time.monotonic() + limits.wall_s
        self._ask = 0.0
        self._poll = select.poll()
        for fd in (*self._outlets, tree.fd, tree.status.fd, tree.report.fd):
            self._poll.register(fd, select.POLLIN)

    def until_end(self) -> Cut | None:
        """Wait; give the reason to end the tree, or None when it has ended by itself."""
        while True:
            cut = self._cut()
            if cut is not None:
                return cut
            rest_s = max(0.0, min(self._ask, self._wall) - time.monotonic())
            ready = [fd for fd, _ in self._poll.poll(math.ceil(rest_s * 1000))]
            for fd in ready:
                self._take(fd)
            if self._tree.has_ended():
                return None

    def _cut(self) -> Cut | None:
        now = time.monotonic()
        if any(outlet.is_over_cap for outlet in self._outlets.values()):
            return Cut(ExitKind.LIMIT, "output")
        if now >= self._wall:
            return Cut(ExitKind.LIMIT, "wall")
        if now >= self._ask:
            self._ask = now + _ASK_S
            if self._asked.must_stop():
                return Cut(ExitKind.STOPPED)
            if self._asked.has_run_out():
                return Cut(ExitKind.LIMIT, "memory")
        return None

    def _take(self, fd: int) -> None:
        outlet = self._outlets.get(fd)
        if outlet is not None:
            outlet.read()
            if not outlet.is_open:
                self._poll.unregister(fd)
        else:
            self._tree.observe()
            for report in (self._tree.status, self._tree.report):
                if report.fd == fd and not report.is_open:
                    self._poll.unregister(fd)
