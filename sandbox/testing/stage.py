# ruff: noqa: S101 (a suite of tests, run by pytest in somebody's test folder)
"""What the suite's tests stand on: the backend under test and what it says of itself, its folder, a door, a sink."""

import os
import shutil
import socket
import tempfile
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from sandbox.door import listening
from sandbox.spec import Bind, Door, Exit, Limits, Sandbox, SandboxSpec, Stream

OUT = "/cell/out"
"""Where the binds are that `Stage.out` makes."""

LIMITS = Limits(
    wall_s=20.0,
    memory_bytes=1 << 30,
    processes=64,
    file_size_bytes=1 << 20,
    open_files=256,
    output_bytes=100_000,
    tmp_bytes=1 << 20,
)


class Guarantee(StrEnum):
    """What a backend may say that it lacks."""

    READ_ONLY = "what is bound read-only can't be written"
    HIDDEN_HOST = "nothing of the host is there but /usr"
    NO_NETWORK = "there is no network but loopback"
    DOOR = "a door is the one way out"
    ROOMS = "a tool room and a server room run beside it what it hands over, without its door"
    SCRATCH = "an empty folder in memory may stand over one of a read-only bind"
    SIZED_TMP = "the place for temporary files is private and has a size"
    CONTAINED = "preflight proves containment"


@dataclass(slots=True)
class Heard:
    """A sink that keeps what it gets."""

    chunks: list[bytes] = field(default_factory=list)
    stdout: bytes = b""
    stderr: bytes = b""

    def __call__(self, stream: Stream, chunk: bytes) -> None:
        """Take a chunk."""
        self.chunks.append(chunk)
        if stream is Stream.STDOUT:
            self.stdout += chunk
        else:
            self.stderr += chunk


def script(text: str, *binds: Bind) -> SandboxSpec:
    """Make the spec that runs a shell script."""
    return SandboxSpec(argv=("/bin/sh", "-c", text), binds=binds, limits=LIMITS, cwd="/")


class Stage:
    """The ground of the suite. Its folder is searchable by everybody, because a backend may give up root.

    Where a backend differs it says so, and is then held to what it says: by `guest`, by `added_environment`, and by
    `lacks`, which turns the tests of a guarantee around.
    """

    added_environment: frozenset[str] = frozenset()
    """Variables that the guest has besides those that every backend gives it."""
    lacks: frozenset[Guarantee] = frozenset()
    netcat: str = "nc"
    """What the guest's shell calls to speak with a port."""

    @abstractmethod
    def make(self, folder: Path) -> Sandbox:
        """Make the backend under test; it may keep things below `folder`."""

    def guest(self, slot: int) -> tuple[int, int]:
        """Give the uid and gid that the guest of `slot` sees as its own."""
        del slot
        return (1000, 1000)

    def holds(self, guarantee: Guarantee, seen: object) -> None:
        """Assert that the guarantee was seen to hold, or to be lacking where the backend says that it is."""
        assert bool(seen) is (guarantee not in self.lacks), guarantee

    def setup_method(self) -> None:
        """Give each test a folder and a backend."""
        self.folder = Path(tempfile.mkdtemp(prefix="sandbox-"))
        self.folder.chmod(0o711)
        self.backend = self.make(self.folder)

    def teardown_method(self) -> None:
        """Let go of the backend and remove the folder."""
        self.backend.close()
        shutil.rmtree(self.folder)

    def out(self, slot: int = 0) -> Bind:
        """Make a writable bind that belongs to `slot`."""
        place = self.folder / f"out-{slot}"
        place.mkdir(mode=0o700)
        os.chown(place, *self.backend.owner(slot))
        return Bind(place, OUT, writable=True)

    @contextmanager
    def door(self, port: int) -> Iterator[Door]:
        """Answer slot 0's guest, once, with all that it said."""
        place = self.folder / "door"

        def answer() -> None:
            try:
                caller = listener.accept()[0]
            except OSError:  # shut down: nobody called
                return
            with caller, caller.makefile("rwb") as spoken:
                spoken.write(b"heard " + spoken.readline())

        with listening(place, self.backend.owner(0)) as listener:
            answering = threading.Thread(target=answer)
            answering.start()
            try:
                yield Door(place, port)
            finally:
                listener.shutdown(socket.SHUT_RDWR)
                answering.join()

    def run(self, spec: SandboxSpec, heard: Heard | None = None, stop: Callable[[], bool] = lambda: False) -> Exit:
        """Run with a sink that may be forgotten."""
        return self.backend.run(spec, heard or Heard(), stop)


def is_raised(kind: type[Exception], act: Callable[[], object]) -> bool:
    """Tell whether `act` raises that."""
    try:
        act()
    except kind:
        return True
    return False
