"""A process's own folder of control groups, in each hierarchy that it uses, and who may clear it away.

    <base>/sandbox-cells/<area>/<cell>/

The process holds a lock on the folder in the first hierarchy as long as it lives: what lies in an area whose lock is
free was left by a dead one. Making and judging areas takes turns by a lock on the folder above.
"""

import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.limits.files import Kernel, remove_soon

PREFIX = "sandbox-cells"


class Area:
    """The folders of this process. After a fork the child gets its own at its next `cell`."""

    def __init__(self, kernel: Kernel, bases: tuple[Path, ...], prepare: Callable[[Path], None]) -> None:
        """Use `bases`, each once; `prepare` readies a folder for having groups below it."""
        self._kernel = kernel
        self._tops = tuple(base / PREFIX for base in dict.fromkeys(bases))
        self._prepare = prepare
        self._name = ""
        self._lock = -1
        self._owner = 0

    def cell(self) -> str:
        """Make a new group in every hierarchy and give its path below the bases. Raises SandboxError."""
        try:
            if self._owner != os.getpid():
                self._claim()
            name = f"{self._name}/{secrets.token_hex(8)}"
            for top in self._tops:
                self._kernel.make(top / name)
        except OSError as error:
            raise SandboxError(f"control group {error.filename} could not be made: {error.strerror}") from error
        return f"{PREFIX}/{name}"

    def close(self) -> None:
        """Give the area up."""
        if self._owner == os.getpid():
            for top in self._tops:
                remove_soon(self._kernel, top / self._name)
            os.close(self._lock)
            self._owner = 0

    def dead(self) -> Iterator[tuple[Path, ...]]:
        """Give the areas of dead owners, each as its folders in all hierarchies, while nobody else judges them."""
        if not self._tops[0].is_dir():
            return
        with _door(self._tops[0]):
            for area in tuple(entry for entry in self._tops[0].iterdir() if entry.is_dir()):
                lock = _lock(area)
                if lock is not None:
                    yield tuple(top / area.name for top in self._tops)
                    os.close(lock)

    def _claim(self) -> None:
        if self._owner:
            os.close(self._lock)  # the parent's, shared by the fork
        for top in self._tops:
            if not top.is_dir():
                _make_there(self._kernel, top)
            self._prepare(top)
        with _door(self._tops[0]):
            self._name = secrets.token_hex(8)
            for top in self._tops:
                self._kernel.make(top / self._name)
                self._prepare(top / self._name)
            lock = _lock(self._tops[0] / self._name)
        if lock is None:
            raise SandboxError(f"control group {self._tops[0] / self._name} is somebody else's")
        self._lock, self._owner = lock, os.getpid()


def _make_there(kernel: Kernel, folder: Path) -> None:
    try:
        kernel.make(folder)
    except FileExistsError:
        return


@contextmanager
def _door(top: Path) -> Iterator[None]:
    descriptor = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _lock(area: Path) -> int | None:
    descriptor = os.open(area, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
