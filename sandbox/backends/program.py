"""The installed bubblewrap: where it is, that it may be trusted, what it can do."""

import hashlib
import os
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxUnavailableError

_PLACES = (Path("/usr/bin/bwrap"), Path("/usr/local/bin/bwrap"), Path("/bin/bwrap"))
_NEEDED = ("--args", "--as-pid-1", "--clearenv", "--json-status-fd", "--perms", "--seccomp", "--size")
_ANSWER_S = 10.0
BARE_ENV = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
"""Bubblewrap's own environment: a guest may come to read it."""


@dataclass(frozen=True, slots=True)
class Program:
    """A bubblewrap that was found fit."""

    path: Path
    version: str
    digest: str
    can_disable_userns: bool
    can_bind_open: bool
    """Whether it takes a bind's source as a descriptor; Debian's 0.8 does, and upstream's from 0.10."""


def find(drop: tuple[str, ...], places: tuple[Path, ...] = _PLACES) -> Program:
    """Find bubblewrap and ask it what it can do, never as root: `drop` gives root up first.

    Raises SandboxUnavailableError when it is missing, not root's alone, setuid, or too old.
    """
    path = next((place.resolve() for place in places if place.exists()), None)
    if path is None:
        looked = ", ".join(str(place) for place in places)
        raise SandboxUnavailableError(
            f"bubblewrap is missing (looked for {looked}); install it: apt-get install bubblewrap"
        )
    _refuse_untrusted(path)
    listing = _ask(drop, path, "--help")
    missing = [option for option in _NEEDED if option not in listing]
    if missing:
        raise SandboxUnavailableError(f"{path} has no {', '.join(missing)}; install bubblewrap 0.8 or newer")
    return Program(
        path=path,
        version=_ask(drop, path, "--version").split()[-1],
        digest=hashlib.sha256(path.read_bytes()).hexdigest(),
        can_disable_userns="--assert-userns-disabled" in listing,
        can_bind_open="--bind-fd" in listing and "--ro-bind-fd" in listing,
    )


def _refuse_untrusted(path: Path) -> None:
    found = path.stat()
    if found.st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise SandboxUnavailableError(f"{path} is setuid or setgid, which has known holes: chmod u-s,g-s {path}")
    for place in (path, *path.parents):
        if _is_others_to_change(place.stat()):
            raise SandboxUnavailableError(
                f"{place} may be changed by others than root: chown root {place}; chmod go-w {place}"
            )


def _is_others_to_change(found: os.stat_result) -> bool:
    is_sticky = stat.S_ISDIR(found.st_mode) and bool(found.st_mode & stat.S_ISVTX)  # nobody renames what is another's
    return found.st_uid != 0 or (bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)) and not is_sticky)


def _ask(drop: tuple[str, ...], path: Path, option: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 (a root-owned program from a system folder)
            (*drop, str(path), option),
            env=BARE_ENV,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_ANSWER_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxUnavailableError(f"{path} {option} could not be run: {error}") from error
    text = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        raise SandboxUnavailableError(f"{path} {option} failed ({done.returncode}): {text.strip()[:300]}")
    return text
