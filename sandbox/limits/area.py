"""A process's own folder of control groups, in each hierarchy that it uses, and who may clear it away.

    <base>/sandbox-groups/<area>/<cell>/

The process holds the folder in each hierarchy as long as it lives: what nobody holds was left by a dead one. Each
folder says so for itself, because others may share only some of our bases: what lies in one of theirs they can't see.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.limits.files import Kernel, make_all, remove_soon
from sandbox.limits.interface import Place
from sandbox.locks import Held, abandoned, claim_in_each

PREFIX = "sandbox-groups"


class Area:
    """The folders of this process. After a fork the child gets its own at its next `cell`."""

    def __init__(self, kernel: Kernel, base: Place) -> None:
        self.top = base.below(PREFIX)
        self._kernel = kernel
        self._held: tuple[Held, ...] = ()
        self._owner = 0

    def cell(self) -> Place:
        """Make a new group in every hierarchy. Raises SandboxError."""
        try:
            if not self._held or self._owner != os.getpid():
                for held in self._held:
                    held.close()  # the parent's, shared by the fork
                self._held = ()
                self._held, self._owner = self._claim(), os.getpid()
            place = self.top.below(self._held[0].path.name).below(secrets.token_hex(8))
            make_all(self._kernel, place.folders())
        except OSError as error:
            raise SandboxError(f"control group {error.filename} could not be made: {error.strerror}") from error
        return place

    def close(self) -> None:
        """Give the area up."""
        if self._owner == os.getpid():
            _give_up(self._kernel, self._held)
            self._held = ()

    def dead(self) -> Iterator[Path]:
        """Give the areas of dead owners, one hierarchy after the other, each while nobody else judges it."""
        for folder in self.top.folders():
            if folder.is_dir():
                yield from abandoned(folder)

    def _claim(self) -> tuple[Held, ...]:
        for folder in self.top.folders():
            if not folder.is_dir():
                with suppress(FileExistsError):  # another was sooner
                    self._kernel.make(folder)
            self.top.pass_on(folder)
        held = claim_in_each(self.top.folders(), self._kernel.make, lambda folder: remove_soon(self._kernel, folder))
        try:
            for one in held:
                self.top.pass_on(one.path)
        except BaseException:
            _give_up(self._kernel, held)
            raise
        return held


def _give_up(kernel: Kernel, held: tuple[Held, ...]) -> None:
    for one in held:
        remove_soon(kernel, one.path)
        one.close()
