"""The `farm` command as a subprocess, in a folder of its own, with nothing of the caller's settings."""

import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FARM = Path(sys.executable).with_name("farm")
LIMIT_S = 150
_MARK = "FARM_TEST_MARK"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def error_lines(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith(("farm:", "Error:"))]


@dataclass(frozen=True, slots=True)
class Desk:
    """A place to work: a current folder, and a folder for temporary files that nobody else uses."""

    here: Path
    scratch: Path
    mark: str

    def farm(self, *arguments: str | Path, env: Mapping[str, str] | None = None) -> Ended:
        """Run `farm` to its end."""
        command = [str(FARM), *map(str, arguments)]
        ran = subprocess.run(
            command,
            cwd=self.here,
            env=self.env(env or {}),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        return Ended(ran.returncode, ran.stdout, ran.stderr)

    @contextmanager
    def started(self, *arguments: str, env: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
        """Start `farm` in the background; it is asked to end with the block, and made to after a while."""
        with (self.scratch / f"{uuid.uuid4().hex}.log").open("wb") as log:
            process = subprocess.Popen(
                (str(FARM), *arguments),
                cwd=self.here,
                env=self.env(env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(30)
            finally:
                process.kill()

    def env(self, more: Mapping[str, str]) -> dict[str, str]:
        """Give the environment: the caller's without FARM_*, AWS_* and Python's own, and `more`."""
        dropped = ("FARM_", "AWS_", "PYTHON")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}  # noqa: TID251 (a test starts programs as a shell would)
        return kept | {"TMPDIR": str(self.scratch), _MARK: self.mark} | dict(more)

    def files(self) -> set[str]:
        """List everything below the current folder and the temporary one."""
        roots = (self.here, self.scratch)
        return {str(path.relative_to(root)) for root in roots for path in root.rglob("*") if ".git" not in path.parts}

    def processes(self) -> list[str]:
        """Name the live processes that were started from this desk."""
        needle = f"{_MARK}={self.mark}".encode()
        return [path.name for path in Path("/proc").iterdir() if path.name.isdigit() and needle in _environ(path.name)]


def _environ(pid: str) -> bytes:
    try:
        return Path("/proc", pid, "environ").read_bytes()
    except OSError:
        return b""


@contextmanager
def a_desk(here: Path) -> Iterator[Desk]:
    """Open a desk at `here`; the temporary folder has a short path, since sockets are made below it."""
    with tempfile.TemporaryDirectory(prefix="t") as scratch:
        Path(scratch).chmod(0o711)  # a root worker's slots have uids of their own, and must pass through
        yield Desk(here, Path(scratch), uuid.uuid4().hex)


def a_repository(folder: Path, files: Mapping[str, str]) -> Path:
    """Make a git repository of one commit on main."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return committed(folder)


def committed(folder: Path) -> Path:
    """Commit everything in `folder` to a new repository there."""
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    for step in (("init", "-q", "-b", "main"), ("add", "--all"), (*who, "commit", "-q", "-m", "All of it")):
        subprocess.run(("git", *step), cwd=folder, check=True, capture_output=True)
    return folder
