"""A program of ours for somebody else's file system: compiled without a single library, or not at all."""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from sandbox.errors import SandboxUnavailableError

_NATIVE = Path(__file__).resolve().parent.parent / "native"
_COMPILERS = ("cc", "gcc", "clang")
_SEARCH = "/usr/local/bin:/usr/bin:/bin"
_BUILD_S = 60.0


def build_static(folder: Path, name: str, compilers: tuple[str, ...] = _COMPILERS) -> Path:
    """Build `native/NAME.c` below `folder`, once a source; raise SandboxUnavailableError where it can't be."""
    source = _NATIVE / f"{name}.c"
    target = folder / f"{name}-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"
    if target.exists():
        return target
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    compiler = next((path for one in compilers if (path := shutil.which(one, path=_SEARCH))), None)
    if compiler is None:
        raise SandboxUnavailableError(f"no C compiler is here to build the {name} init; apt-get install gcc libc6-dev")
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as scratch:
        built = Path(scratch) / name
        _compile(compiler, source, built)
        built.chmod(0o555)
        built.rename(target)
    return target


def _compile(compiler: str, source: Path, target: Path) -> None:
    try:
        done = subprocess.run(  # noqa: S603 (our own source, a compiler from the system's folders)
            (compiler, "-O2", "-s", "-static", "-o", str(target), str(source)),
            env={"PATH": _SEARCH},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_BUILD_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxUnavailableError(f"{compiler} could not be run on {source}: {error}") from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace")[-400:]
        raise SandboxUnavailableError(
            f"{compiler} could not build {source} statically; apt-get install libc6-dev: {said}"
        )
