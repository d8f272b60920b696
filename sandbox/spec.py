"""What to run and what came of it: the values of the sandbox's border.

`Sandbox` is the protocol that every backend keeps; `sandbox.testing` holds its conformance suite.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Bind:
    """A host path made visible: no symlink on the way to `source`; `target` absolute, on the root's own tmpfs.

    Where `facts()["bind_sources"]` says that it is opened by name, the backend goes the way again that was looked at:
    then nobody who could change it may live when the run starts, no guest that may write a folder above `source`.
    """

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Scratch:
    """An empty folder in memory, the guest's, over a folder that lies below a read-only bind's target."""

    target: str
    size_bytes: int


TMP = "/tmp"  # noqa: S108 (a name inside the sandbox)
"""A guest's temporary folder: a tmpfs of `tmp_bytes`, or what a bind puts in its place."""

DOOR = "/run/model.sock"
"""Where a guest finds its door's socket."""


@dataclass(frozen=True, slots=True)
class Door:
    """The one way out: a host's unix socket, bound at DOOR, to which 127.0.0.1:`port` leads as well.

    Who listens on `socket` is the caller: it stands in a folder that no guest can write, and may be connected to by
    `Sandbox.owner(slot)`; see `sandbox.door`. It listens before the run starts, with room for 64 callers to wait.
    """

    socket: Path
    port: int = 8080


TOOL = "/.tool"
"""In a sandbox with a tool room: `/.tool COMMAND [ARGUMENT...]` runs the command there, in place of itself."""


@dataclass(frozen=True, slots=True)
class ToolRoom:
    """A second sandbox beside the guest's own, for the commands that it hands over by TOOL.

    It has the same binds, limits and environment, but no door, and a private home: what a tool leaves in a home would
    be executed beside the door. Its processes, its /tmp and its loopback live until the run's end.
    """

    socket: Path
    """Where the backend is to listen: a new name in a folder that no guest can write, and so is that with .desk."""


SERVER = "/.server"
"""In a sandbox with a server room: `/.server COMMAND [ARGUMENT...]` runs the command there, in place of itself."""


@dataclass(frozen=True, slots=True)
class ServerRoom:
    """As a tool room, for programs that only answer: what a guest starts by SERVER and talks to by its streams.

    All its binds are read-only, and its commands get none of the guest's environment: only what every sandbox has.
    """

    socket: Path
    """As a tool room's."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of the process tree. A limit reached is data with its name."""

    wall_s: float
    memory_bytes: int
    processes: int
    file_size_bytes: int
    open_files: int
    output_bytes: int
    tmp_bytes: int
    cpus: float | None = None
    """Processors' worth of time, held where there are control groups; None is as much as there is."""


@dataclass(frozen=True, slots=True)
class DiskSize:
    """Bounds of a disk, on which the sources of any number of binds may lie: see `sandbox.disk`."""

    size_bytes: int
    """So much a guest can write, a percent more at most."""
    inodes: int
    """Files, folders and links, rounded up to what the file system's groups hold; at most one for each 4 KiB."""


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """One process tree to run: argv, environment (an allow-list: nothing is inherited), binds, limits.

    The guest sees uid and gid 1000, the host's /usr read-only, a synthetic /etc, private /proc, /dev, /tmp, /run,
    HOME at `home`, no network but `door`, and `binds`; nothing else.
    """

    argv: tuple[str, ...]
    binds: tuple[Bind, ...]
    limits: Limits
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict)
    home: str = "/home/agent"
    stdin: bytes = b""
    slot: int = 0
    """Which of the worker's slots runs this: a root worker drops to the slot's own unprivileged uid."""
    door: Door | None = None
    image: str | None = None
    """Whose root file system it has, by digest, instead of the backend's own; see `Sandbox.images`."""
    tools: ToolRoom | None = None
    servers: ServerRoom | None = None
    scratch: tuple[Scratch, ...] = ()
    """A tool room has its own; a server room has none."""


class Stream(StrEnum):
    """Which of the guest's outputs."""

    STDOUT = "stdout"
    STDERR = "stderr"


class ExitKind(StrEnum):
    """How the tree ended."""

    EXITED = "exited"
    SIGNALED = "signaled"
    LIMIT = "limit"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of a process tree: it is dead, all of it, when this exists."""

    kind: ExitKind
    wall_s: float
    code: int | None = None
    signal: int | None = None
    limit: str | None = None
    """wall or output, or memory where the tree has a control group."""
    cpu_s: float | None = None
    peak_memory_bytes: int | None = None
    peak_processes: int | None = None
    """Of the whole tree, the sandbox's own two or three included; with rooms beside it, of the fullest of them all."""
    peak_disk_bytes: int | None = None
    peak_inodes: int | None = None
    """Of the disk that it ran on, if it had one, as it was seen every 0.1 s and at the end."""
    limits_touched: tuple[str, ...] = ()
    """memory, processes, processors, by the tree or its rooms, disk, inodes: run into at least once, whether or not
    that ended anything; file_size where it ended the command; tmp where a /tmp of `tmp_bytes`, the tree's or a room's,
    was full when the command had ended."""
    cut: tuple[Stream, ...] = ()
    """The outputs of which the sink did not get all: they went past their limit."""


Sink = Callable[[Stream, bytes], None]
"""Called in the caller's thread with each chunk as it comes, before anything else is done with it."""

Facts = Mapping[str, str | int | bool | None]


@dataclass(frozen=True, slots=True)
class Probe:
    """One effect that preflight looked for."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


class Images(Protocol):
    """The images of a backend that runs them."""

    def digests(self) -> frozenset[str]:
        """List every digest by which `get` finds an image at once."""
        ...

    def get(self, name: str, stop: Callable[[], bool]) -> str:
        """Give the id, by which specs may name it, of the image that `name` pins: `name@sha256:…` or `sha256:…`.

        It is got from elsewhere if need be and if the backend may; then `stop` is asked at least every 0.1 s.
        Raises SandboxUnavailableError, which says what to do, when there is none; SandboxError after a stop.
        """
        ...


class Sandbox(Protocol):
    """A backend. One instance serves one thread at a time; the thread must outlive every run."""

    def run(self, spec: SandboxSpec, sink: Sink, stop: Callable[[], bool]) -> Exit:
        """Run `spec` to its end and return how it ended, once every process of it is dead.

        `stop` is asked at least every 0.1 s; when it says True the tree is killed and the kind is STOPPED.
        Raises SandboxError when the command could not be started, SandboxRefusedError for an unsafe spec,
        SandboxUnhealthyError when somebody is not dead 5 s after SIGKILL.
        """
        ...

    @property
    def images(self) -> Images | None:
        """Give the images that specs may name; None for a backend that runs none and refuses specs with one."""
        ...

    def close(self) -> None:
        """Let go of what is kept between runs, which a next run makes anew. The process's end does it less tidily."""
        ...

    def facts(self) -> Facts:
        """Say what enforces the containment: versions, digests, how limits are held. It becomes evidence."""
        ...

    def owner(self, slot: int) -> tuple[int, int]:
        """Give the host uid and gid that the guest's files must belong to in `slot`."""
        ...

    def preflight(self, scratch: Path) -> tuple[Probe, ...]:
        """Prove containment by effect in a throw-away run below `scratch`; a failed probe means: run nothing."""
        ...
