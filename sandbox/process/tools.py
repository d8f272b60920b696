"""The small programs around bubblewrap: the init inside, the spawner and the launcher outside.

They are built from `sandbox/native` once per work root and source, where a C compiler exists; else programs in Python
and util-linux's setpriv stand in, and `Tools` says so and why: a stand-in is slower, not weaker.
"""

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxUnavailableError
from sandbox.process.building import Program, Unbuilt, build, digest, make_open

_INIT = Program("init", ("init.c", "forwarder.c"))
_LAUNCHER = Program("launcher", ("launcher.c",))
_SPAWNER = Program("spawner", ("spawner.c",))
_TOOL = Program("tool", ("tool.c", "room.c"))
_CONTAINER = Program("container", ("container.c", "forwarder.c"), links=(("-static",),))
"""It runs in somebody else's file system, so it may need no library; likewise the next three."""
_CONTAINER_TOOL = Program("container-tool", _TOOL.sources, links=(("-static",),))
_CALLER = Program("caller", ("caller.c",), links=(("-static",),))
_COUNTER = Program("counter", ("counter.c",), links=(("-static",),))
_PID_ONE = Path(__file__).resolve().parent / "pid_one.py"
_SPAWNER_ONE = Path(__file__).resolve().parent / "spawner_one.py"
_TOOL_ONE = Path(__file__).resolve().parent / "tool_one.py"
_SEARCH = "/usr/local/bin:/usr/bin:/bin"
_PYTHON = Path("/usr/bin/python3")


@dataclass(frozen=True, slots=True)
class Tools:
    """What stands around the guest."""

    init: Path
    """On the host; bound read-only into the sandbox."""
    init_words: tuple[str, ...]
    """What executes it inside, before its own path: nothing, or an interpreter."""
    init_kind: str
    init_digest: str
    launcher_words: tuple[str, ...]
    """Gives up root: the words before uid and gid are filled in; see `drop`."""
    launcher_kind: str
    spawner_words: tuple[str, ...]
    spawner_kind: str
    not_native: str | None
    """Why something of it is a stand-in."""

    def drop(self, uid: int, gid: int) -> tuple[str, ...]:
        """Give the words that drop to `uid` and `gid` and then execute what follows."""
        return tuple(word.format(uid=uid, gid=gid) for word in self.launcher_words)


def prepare(folder: Path, compiler: str | None = None) -> Tools:
    """Put the tools below `folder`, building what is missing; safe against others doing the same at the same time.

    `compiler` is a path, "" for none; by default one is looked for. Raises SandboxUnavailableError.
    """
    make_open(folder)
    init, launcher, spawner = (build(folder, program, compiler) for program in (_INIT, _LAUNCHER, _SPAWNER))
    init_words: tuple[str, ...] = ()
    not_native = next((one.reason for one in (init, launcher, spawner) if isinstance(one, Unbuilt)), None)
    if isinstance(init, Unbuilt):
        init, init_words = _copied(folder, _PID_ONE), _interpreter()
    is_bare, is_slow = isinstance(launcher, Unbuilt), isinstance(spawner, Unbuilt)
    return Tools(
        init=init,
        init_words=init_words,
        init_kind="python" if init_words else "native",
        init_digest=hashlib.sha256(init.read_bytes()).hexdigest(),
        launcher_words=_setpriv() if is_bare else (str(launcher), "{uid}", "{gid}"),
        launcher_kind="setpriv" if is_bare else "native",
        spawner_words=(*_interpreter(), str(_copied(folder, _SPAWNER_ONE))) if is_slow else (str(spawner),),
        spawner_kind="python" if is_slow else "native",
        not_native=not_native,
    )


@dataclass(frozen=True, slots=True)
class ToolProgram:
    """What a session executes in place of a command that is to run in a room beside it, and what runs it there."""

    path: Path
    kind: str
    not_native: str | None = None


def prepare_tool(folder: Path, compiler: str | None = None) -> ToolProgram:
    """Put the tool program below `folder`, as `prepare` does the others."""
    make_open(folder)
    built = build(folder, _TOOL, compiler)
    if isinstance(built, Unbuilt):
        _interpreter()  # its first line names it
        return ToolProgram(_copied(folder, _TOOL_ONE), "python", built.reason)
    return ToolProgram(built, "native")


@dataclass(frozen=True, slots=True)
class ContainerTools:
    """What is bound into containers."""

    init: Path
    tool: Path
    caller: Path
    counter: Path
    """For preflight, as the caller."""


def prepare_container(folder: Path, compiler: str | None = None) -> ContainerTools:
    """Put what containers need below `folder`; nothing stands in for it. Raises SandboxUnavailableError."""
    programs = (_CONTAINER, _CONTAINER_TOOL, _CALLER, _COUNTER)
    return ContainerTools(*(_static(build(folder, program, compiler)) for program in programs))


def _static(built: Path | Unbuilt) -> Path:
    if isinstance(built, Unbuilt):
        raise SandboxUnavailableError(
            f"a container's init can't be built: {built.reason} (it is linked statically: apt-get install libc6-dev)"
        )
    return built


def _copied(folder: Path, source: Path) -> Path:
    target = folder / f"{source.stem}-{digest(source)}.py"
    if not target.exists():
        with tempfile.NamedTemporaryFile(dir=folder, prefix="copy-", delete=False) as copy:
            copy.write(source.read_bytes())
            os.fchmod(copy.fileno(), 0o555)
        Path(copy.name).rename(target)
    return target


def _interpreter() -> tuple[str, ...]:
    if not _PYTHON.exists():
        raise SandboxUnavailableError(
            f"neither a C compiler nor {_PYTHON} is there for the sandbox's init; apt-get install gcc libc6-dev"
        )
    return (str(_PYTHON), "-I", "-S", "-B")


def _setpriv() -> tuple[str, ...]:
    found = shutil.which("setpriv", path=_SEARCH)
    if found is None:
        raise SandboxUnavailableError(
            "neither a C compiler nor setpriv exists to give up root before bubblewrap; apt-get install util-linux"
        )
    return (found, "--reuid", "{uid}", "--regid", "{gid}", "--clear-groups", "--")
