"""The small programs around bubblewrap: the init inside, the spawner and the launcher outside.

They are built from `sandbox/native` once per work root and source, where a C compiler exists; else programs in Python
and util-linux's setpriv stand in, and `Tools` says so: a stand-in is slower, not weaker.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxUnavailableError

_NATIVE = Path(__file__).resolve().parent.parent / "native"
_SOURCES = {
    "init": ("init.c", "forwarder.c"),
    "launcher": ("launcher.c",),
    "spawner": ("spawner.c",),
    "tool": ("tool.c", "room.c"),
}
"""What each program is compiled of; any header beside them may be part of it."""
_PID_ONE = Path(__file__).resolve().parent / "pid_one.py"
_SPAWNER_ONE = Path(__file__).resolve().parent / "spawner_one.py"
_TOOL_ONE = Path(__file__).resolve().parent / "tool_one.py"
_COMPILERS = ("cc", "gcc", "clang")
_SEARCH = "/usr/local/bin:/usr/bin:/bin"
_PYTHON = Path("/usr/bin/python3")
_BUILD_S = 60.0


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

    def drop(self, uid: int, gid: int) -> tuple[str, ...]:
        """Give the words that drop to `uid` and `gid` and then execute what follows."""
        return tuple(word.format(uid=uid, gid=gid) for word in self.launcher_words)


def make_open(folder: Path) -> None:
    """Make a folder that every uid may pass through and read, whatever the umask; one that is there keeps its mode."""
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if made:
        folder.chmod(0o755)


def prepare(folder: Path, compiler: str | None = None) -> Tools:
    """Put the tools below `folder`, building what is missing; safe against others doing the same at the same time.

    `compiler` is a path, "" for none; by default one is looked for. Raises SandboxUnavailableError.
    """
    make_open(folder)
    found = _compiler() if compiler is None else compiler
    init = _built(folder, "init", found)
    launcher = _built(folder, "launcher", found)
    spawner = _built(folder, "spawner", found)
    init_words: tuple[str, ...] = ()
    if init is None:
        init, init_words = _copied(folder, _PID_ONE), _interpreter()
    return Tools(
        init=init,
        init_words=init_words,
        init_kind="python" if init_words else "native",
        init_digest=hashlib.sha256(init.read_bytes()).hexdigest(),
        launcher_words=(str(launcher), "{uid}", "{gid}") if launcher else _setpriv(),
        launcher_kind="native" if launcher else "setpriv",
        spawner_words=(str(spawner),) if spawner else (*_interpreter(), str(_copied(folder, _SPAWNER_ONE))),
        spawner_kind="native" if spawner else "python",
    )


@dataclass(frozen=True, slots=True)
class ToolProgram:
    """What a session executes in place of a command that is to run in the tool room, and what runs it there."""

    path: Path
    kind: str


def prepare_tool(folder: Path, compiler: str | None = None) -> ToolProgram:
    """Put the tool program below `folder`, as `prepare` does the others."""
    make_open(folder)
    built = _built(folder, "tool", _compiler() if compiler is None else compiler)
    if built is not None:
        return ToolProgram(built, "native")
    _interpreter()  # its first line names it
    return ToolProgram(_copied(folder, _TOOL_ONE), "python")


def _compiler() -> str:
    found = (shutil.which(name, path=_SEARCH) for name in _COMPILERS)
    return next((path for path in found if path), "")


def _built(folder: Path, name: str, compiler: str) -> Path | None:
    sources = tuple(_NATIVE / source for source in _SOURCES[name])
    target = folder / f"{name}-{_digest(*sources, *sorted(_NATIVE.glob('*.h')))}"
    if not compiler or target.exists():
        return target if compiler else None
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as scratch:
        built = Path(scratch) / name
        # A static program starts a millisecond sooner; a C library without its archive still gives a dynamic one.
        if not any(_compile(compiler, sources, built, link) for link in (("-static",), ())):
            return None
        built.chmod(0o555)
        built.rename(target)
    return target


def _compile(compiler: str, sources: tuple[Path, ...], target: Path, link: tuple[str, ...]) -> bool:
    words = (compiler, "-O2", "-s", *link, "-o", str(target), *(str(source) for source in sources))
    try:
        done = subprocess.run(  # noqa: S603 (our own source, a compiler from the system's folders)
            words, env={"PATH": _SEARCH}, stdin=subprocess.DEVNULL, capture_output=True, timeout=_BUILD_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _copied(folder: Path, source: Path) -> Path:
    target = folder / f"{source.stem}-{_digest(source)}.py"
    if not target.exists():
        with tempfile.NamedTemporaryFile(dir=folder, prefix="copy-", delete=False) as copy:
            copy.write(source.read_bytes())
            os.fchmod(copy.fileno(), 0o555)
        Path(copy.name).rename(target)
    return target


def _digest(*sources: Path) -> str:
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


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
