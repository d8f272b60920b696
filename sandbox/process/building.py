"""Our programs in C: compiled once per folder and source, or the reason why not, in the compiler's own words."""

import hashlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_NATIVE = Path(__file__).resolve().parent.parent / "native"
_COMPILERS = ("cc", "gcc", "clang")
_SEARCH = "/usr/local/bin:/usr/bin:/bin"
_BUILD_S = 60.0
_SAID_BYTES = 400


@dataclass(frozen=True, slots=True)
class Program:
    """What a program is compiled of; any header beside its sources may be part of it."""

    name: str
    sources: tuple[str, ...]
    links: tuple[tuple[str, ...], ...] = (("-static",), ())
    """Ways to link, the best first: a static program starts a millisecond sooner, but not every C library can."""


@dataclass(frozen=True, slots=True)
class Unbuilt:
    """There is no such program here."""

    reason: str


_failed: dict[str, Unbuilt] = {}
"""What failed, by compiler and target's name: it would fail again as long as this process lives."""


def make_open(folder: Path) -> None:
    """Make a folder that every uid may pass through and read, whatever the umask; one that is there keeps its mode."""
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if made:
        folder.chmod(0o755)


def build(folder: Path, program: Program, compiler: str | None = None) -> Path | Unbuilt:
    """Give the program below `folder`, compiled if need be; safe against others doing the same at the same time.

    `compiler` is a path, "" for none; by default one is looked for.
    """
    compiler = _compiler() if compiler is None else compiler
    if not compiler:
        return Unbuilt("no C compiler is here; apt-get install gcc libc6-dev")
    sources = tuple(_NATIVE / source for source in program.sources)
    target = folder / f"{program.name}-{digest(*sources, *sorted(_NATIVE.glob('*.h')))}"
    if target.exists():
        return target
    attempt = f"{compiler} {target.name}"
    if attempt not in _failed:
        make_open(folder)
        failure = _build(compiler, program, sources, target)
        if failure is None:
            return target
        _failed[attempt] = failure
    return _failed[attempt]


def digest(*sources: Path) -> str:
    """Give the part of a file's name that says what it was made of."""
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def _compiler() -> str:
    found = (shutil.which(name, path=_SEARCH) for name in _COMPILERS)
    return next((path for path in found if path), "")


def _build(compiler: str, program: Program, sources: tuple[Path, ...], target: Path) -> Unbuilt | None:
    failure = None
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="build-") as scratch:
        built = Path(scratch) / program.name
        for link in program.links:
            words = (compiler, "-O2", "-s", *link, "-o", str(built), *(str(source) for source in sources))
            failure = _compile(words)
            if failure is None:
                built.chmod(0o555)
                built.rename(target)
                return None
    return failure


def _compile(words: tuple[str, ...]) -> Unbuilt | None:
    try:
        done = subprocess.run(  # noqa: S603 (our own source, a compiler from the system's folders)
            words, env={"PATH": _SEARCH}, stdin=subprocess.DEVNULL, capture_output=True, timeout=_BUILD_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Unbuilt(f"{words[0]} could not be run: {error}")
    if done.returncode == 0:
        return None
    said = " ".join(done.stderr.decode(errors="replace").split())[-_SAID_BYTES:]
    return Unbuilt(f"{words[0]} failed ({done.returncode}): {said}")
