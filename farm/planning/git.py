"""git as a subprocess that trusts nothing: no system or user configuration, no hooks, no prompts, bounded time."""

import base64
import os
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from farm.errors import SpecError

FETCH_TIMEOUT_S = 600.0
READ_TIMEOUT_S = 60.0

_SAFE = (
    "safe.directory=*",  # we read objects and refs only, as whoever runs this
    "protocol.ext.allow=never",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=ssh -oBatchMode=yes",
    "core.alternateRefsCommand=",
    "credential.helper=",
    "gc.auto=0",
    "transfer.fsckObjects=false",
)
_OPTIONS = tuple(part for option in _SAFE for part in ("-c", option))
_PASSED_ON = ("PATH", "HOME", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "http_proxy", "https_proxy", "no_proxy")


class GitError(SpecError):
    """git refused; the message is git's own last line."""


def run_git(
    where: Path, *args: str, protocols: str = "none", timeout_s: float = READ_TIMEOUT_S, login: str | None = None
) -> bytes:
    """Run git in `where`, with only `protocols` (git's own list form) allowed; raise GitError when it fails.

    `login` is a `user:password` for http, passed where no process list shows it.
    """
    try:
        done = subprocess.run(  # noqa: S603 (argv is ours; refs and paths follow --end-of-options or are checked)
            command(where, args),
            env=environment(where, protocols) | _login_setting(login),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except FileNotFoundError:
        raise SpecError("git is not installed; install it (on Debian and Ubuntu: apt-get install git)") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {args[0]} took more than {timeout_s:.0f} s") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise GitError(said[-1] if said else f"git {args[0]} ended with {done.returncode}")
    return done.stdout


@contextmanager
def object_reader(where: Path) -> Iterator["ObjectReader"]:
    """Open one `git cat-file --batch` for many objects."""
    with subprocess.Popen(  # noqa: S603 (argv is ours)
        command(where, ("cat-file", "--batch")),
        env=environment(where, "none"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as child:
        watchdog = threading.Timer(FETCH_TIMEOUT_S, child.kill)
        watchdog.start()
        try:
            if child.stdin is None or child.stdout is None:
                raise AssertionError("both are pipes")
            yield ObjectReader(child.stdin, child.stdout)
        finally:
            watchdog.cancel()
            child.kill()


class ObjectReader:
    """Reads blobs by id, one after the other."""

    def __init__(self, ask: IO[bytes], answer: IO[bytes]) -> None:
        self._ask = ask
        self._answer = answer

    def blob(self, object_id: str, size: int) -> Iterator[bytes]:
        """Yield a blob's bytes; raise GitError when the repository lacks it or its size is another."""
        self._ask.write(object_id.encode() + b"\n")
        self._ask.flush()
        said = self._answer.readline().decode(errors="replace").split()
        if said != [object_id, "blob", str(size)]:
            raise GitError(f"object {object_id} can't be read: {' '.join(said[1:]) or 'git ended'}")
        left = size
        while left:
            chunk = self._answer.read(min(left, 1 << 20))
            if not chunk:
                raise GitError(f"object {object_id} is cut short")
            left -= len(chunk)
            yield chunk
        self._answer.read(1)


def command(where: Path, args: Sequence[str]) -> list[str]:
    """Build git's argv."""
    return ["git", *_OPTIONS, "-C", str(where), *args]


def _login_setting(login: str | None) -> dict[str, str]:
    if login is None:
        return {}
    basic = base64.b64encode(login.encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
    }


def environment(where: Path, protocols: str) -> dict[str, str]:
    """Build git's whole environment; it finds no repository above `where`."""
    # The person's own proxies, certificates and ssh agent are what makes a URL reachable: they can't change a commit.
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}  # noqa: TID251 (see above)
    return passed_on | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "GIT_ALLOW_PROTOCOL": protocols,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CEILING_DIRECTORIES": str(where.parent),
        "LC_ALL": "C.UTF-8",
    }
