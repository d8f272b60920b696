"""Git on the host, hardened: it runs nothing that a repository asks for, and reads no configuration but its own.

It only ever opens repositories that we made. An agent's `.git` is never opened here: fifteen of twenty-five
configurations that an agent could leave there would run its code as us.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from worker.trees.errors import TreeError

_LIMIT_S = 120.0
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.autocrlf=false",
    "core.quotePath=true",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "diff.renames=false",
)
_ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "workspace",
    "GIT_AUTHOR_EMAIL": "workspace@localhost",
    "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "workspace",
    "GIT_COMMITTER_EMAIL": "workspace@localhost",
    "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z",
}


_STRAIGHT_INTO_A_PACK = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.bigFileThreshold",
    "GIT_CONFIG_VALUE_0": "1",
}
"""No file of its own for each object, and no search for deltas among them: a fifth of the time for 2,000 files."""
_BARE = (
    "core.bare=true",  # no work tree, so no .gitattributes either
    "core.protectNTFS=false",  # nothing is ever checked out, so any name may be looked at
    "core.protectHFS=false",
    "core.fsync=none",  # it is gone in a moment
    "core.compression=1",
    "fastimport.unpackLimit=1",
)


@dataclass(frozen=True, slots=True)
class Git:
    """One repository of ours, and the work tree of ours that it looks at; none, and git looks at no files at all."""

    git_dir: Path
    work_tree: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    def run(self, *arguments: str) -> None:
        """Run a git command for its effect; raise TreeError when it fails."""
        self.feed(arguments, ())

    def feed(self, arguments: tuple[str, ...], parts: Iterable[bytes]) -> None:
        """Run a git command that reads `parts`; raise TreeError when it fails."""
        with (
            self._started(arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process,
            suppress(BrokenPipeError),  # git has ended, and says why
            _pipe(process.stdin) as pipe,
        ):
            for part in parts:
                pipe.write(part)

    def read(self, *arguments: str, most_bytes: int) -> bytes:
        """Run a git command and return its output, `most_bytes` at most; raise TreeError when it fails."""
        with (
            self._started(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process,
            _pipe(process.stdout) as pipe,
        ):
            return pipe.read(most_bytes)

    @contextmanager
    def _started(self, arguments: tuple[str, ...], stdin: int, stdout: int) -> Iterator["subprocess.Popen[bytes]"]:
        settings = _SETTINGS if self.work_tree is not None else (*_SETTINGS, *_BARE)
        with (
            tempfile.TemporaryFile() as errors,
            subprocess.Popen(  # noqa: S603 (a fixed program, hardened settings, no shell)
                ["git", *(word for setting in settings for word in ("-c", setting)), *arguments],  # noqa: S607 (PATH is set)
                stdin=stdin,
                stdout=stdout,
                stderr=errors,
                cwd=self.work_tree or self.git_dir,
                env=self._env(),
            ) as process,
            _killed_after(process, _LIMIT_S) as is_late,
        ):
            try:
                yield process
                process.wait()
            except BaseException:
                process.kill()
                raise
            if process.returncode not in {0, -signal.SIGPIPE}:  # the latter: we had read enough
                errors.seek(0)
                said = errors.read().decode(errors="replace").strip()[-500:]
                reason = f"took more than {_LIMIT_S:.0f} s" if is_late.is_set() else f"failed: {said}"
                raise TreeError(f"git {arguments[0]} {reason}")

    def _env(self) -> dict[str, str]:
        place = {"GIT_DIR": os.fspath(self.git_dir)}
        if self.work_tree is not None:
            place["GIT_WORK_TREE"] = os.fspath(self.work_tree)
        return {**_ENV, **place, **self.env}


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    if end is None:
        raise TreeError("git was started without a pipe")
    return end


@contextmanager
def _killed_after(process: "subprocess.Popen[bytes]", limit_s: float) -> Iterator[threading.Event]:
    """Kill the process when the block takes longer; the event says that it was."""
    is_late = threading.Event()

    def kill() -> None:
        is_late.set()
        process.kill()

    timer = threading.Timer(limit_s, kill)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()


def commit_everything(work_tree: Path) -> None:
    """Make `work_tree` a repository with one commit of all its files: constant author, date and message."""
    git = Git(work_tree / ".git", work_tree)
    git.run("init", "--quiet", "--template=", "--initial-branch=main")
    for setting in ("core.checkStat=minimal", "core.trustctime=false"):  # a copied index stays valid
        name, _, value = setting.partition("=")
        git.run("config", name, value)
    Git(git.git_dir, work_tree, _STRAIGHT_INTO_A_PACK).run("add", "--all", "--force", ".")
    git.run("commit", "--quiet", "--allow-empty", "--no-verify", "--message", "workspace")
    git.run("repack", "-adq")
    git.run("pack-refs", "--all")
    _drop_what_nobody_reads(git.git_dir)


def _drop_what_nobody_reads(git_dir: Path) -> None:
    """Leave HEAD, config, index, one pack and one ref: no reflog, and half as many entries to copy for every cell."""
    for name in ("logs", "info", "objects/info", "refs/heads", "refs/tags"):
        shutil.rmtree(git_dir / name, ignore_errors=True)
    (git_dir / "COMMIT_EDITMSG").unlink(missing_ok=True)
