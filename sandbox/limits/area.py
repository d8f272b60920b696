"""A process's own folder of control groups, in each hierarchy that it uses, and who may clear it away.

    <base>/sandbox-cells/<area>/<cell>/

The process holds the folder in the first hierarchy as long as it lives: it is made first and removed last, so what lies
in an area that nobody holds was left by a dead one.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress

from sandbox.errors import SandboxError
from sandbox.limits.files import Kernel, make_all, remove_all
from sandbox.limits.interface import Place
from sandbox.locks import Held, abandoned, claim

PREFIX = "sandbox-cells"


class Area:
    """The folders of this process. After a fork the child gets its own at its next `cell`."""

    def __init__(self, kernel: Kernel, base: Place) -> None:
        self._kernel = kernel
        self._top = base.below(PREFIX)
        self._held: Held | None = None
        self._owner = 0

    def cell(self) -> Place:
        """Make a new group in every hierarchy. Raises SandboxError."""
        try:
            if self._held is None or self._owner != os.getpid():
                self._let_go()  # of the parent's, shared by the fork
                self._held = self._claim()
                self._owner = os.getpid()
            place = self._top.below(self._held.path.name).below(secrets.token_hex(8))
            make_all(self._kernel, place.folders())
        except OSError as error:
            raise SandboxError(f"control group {error.filename} could not be made: {error.strerror}") from error
        return place

    def close(self) -> None:
        """Give the area up."""
        if self._held is not None and self._owner == os.getpid():
            remove_all(self._kernel, self._top.below(self._held.path.name).folders())
            self._let_go()

    def dead(self) -> Iterator[Place]:
        """Give the areas of dead owners, each while nobody else judges it."""
        first = self._top.folders()[0]
        if first.is_dir():
            for area in abandoned(first):
                yield self._top.below(area.name)

    def _let_go(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None

    def _claim(self) -> Held:
        for folder in self._top.folders():
            if not folder.is_dir():
                with suppress(FileExistsError):  # another was sooner
                    self._kernel.make(folder)
            self._top.pass_on(folder)
        first = self._top.folders()[0]
        held = claim(first, self._kernel.make)
        area = self._top.below(held.path.name)
        try:
            make_all(self._kernel, area.folders()[1:])
            for folder in area.folders():
                area.pass_on(folder)
        except BaseException:
            remove_all(self._kernel, area.folders())
            held.close()
            raise
        return held
