"""Git on the host, hardened: it runs nothing that a repository asks for, and reads no configuration but its own.

It only ever opens repositories that we made. An agent's `.git` is never opened here: fifteen of twenty-five
configurations that an agent could leave there would run its code as us.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

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


@dataclass(frozen=True, slots=True)
class Git:
    """One repository of ours and the work tree that it looks at."""

    git_dir: Path
    work_tree: Path
    env: Mapping[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, stdin: bytes = b"", most_bytes: int | None = None) -> bytes:
        """Run a git command and return its output, cut at `most_bytes`; raise TreeError when it fails."""
        with subprocess.Popen(  # noqa: S603 (a fixed program, hardened settings, no shell)
            ["git", *(word for setting in _SETTINGS for word in ("-c", setting)), *arguments],  # noqa: S607 (PATH is set below)
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.work_tree,
            env={**_ENV, "GIT_DIR": os.fspath(self.git_dir), "GIT_WORK_TREE": os.fspath(self.work_tree), **self.env},
        ) as process:
            try:
                output, errors = process.communicate(stdin, timeout=_LIMIT_S)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise TreeError(f"git {arguments[0]} took more than {_LIMIT_S:.0f} s") from error
        if process.returncode != 0:
            raise TreeError(f"git {arguments[0]} failed: {errors.decode(errors='replace').strip()[-500:]}")
        return output if most_bytes is None else output[:most_bytes]


def commit_everything(work_tree: Path) -> None:
    """Make `work_tree` a repository with one commit of all its files: constant author, date and message."""
    git = Git(work_tree / ".git", work_tree)
    git.run("init", "--quiet", "--template=", "--initial-branch=main")
    for setting in ("core.checkStat=minimal", "core.trustctime=false"):  # a copied index stays valid
        name, _, value = setting.partition("=")
        git.run("config", name, value)
    git.run("add", "--all", "--force", ".")
    git.run("commit", "--quiet", "--allow-empty", "--no-verify", "--message", "workspace")
    git.run("repack", "-adq")
    git.run("pack-refs", "--all")
    _drop_what_nobody_reads(git.git_dir)


def _drop_what_nobody_reads(git_dir: Path) -> None:
    """Leave HEAD, config, index, one pack and one ref: no reflog, and half as many entries to copy for every cell."""
    for name in ("logs", "info", "objects/info", "refs/heads", "refs/tags"):
        shutil.rmtree(git_dir / name, ignore_errors=True)
    (git_dir / "COMMIT_EDITMSG").unlink(missing_ok=True)
