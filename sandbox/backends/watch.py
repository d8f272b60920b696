"""The wait for a running sandbox: one poll over its pipes and its channel."""

import select

from sandbox.backends.cuts import Cut, Cuts
from sandbox.process.tree import Tree
from sandbox.streams import Outlet


class Watch:
    """Waits until the tree has ended by itself or must be ended."""

    def __init__(self, tree: Tree, outlets: tuple[Outlet, ...], cuts: Cuts) -> None:
        self._tree = tree
        self._outlets = {outlet.fd: outlet for outlet in outlets}
        self._cuts = cuts
        self._poll = select.poll()
        for fd in (*self._outlets, tree.fd, tree.status.fd, tree.report.fd):
            self._poll.register(fd, select.POLLIN)

    def until_end(self) -> Cut | None:
        """Wait; give the reason to end the tree, or None when it has ended by itself."""
        while True:
            cut = self._cuts.due()
            if cut is not None:
                return cut
            for fd, _ in self._poll.poll(self._cuts.rest_ms()):
                self._take(fd)
            if self._tree.has_ended():
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
