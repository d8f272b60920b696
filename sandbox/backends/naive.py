"""Bubblewrap without our care, to show on this host what the care is for. Nothing that a guest could name is run."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

_ANSWER_S = 30.0
_SYSTEM = ("--ro-bind", "/usr", "/usr", "--proc", "/proc")
_LINKS = ("--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64")
_LINK = "link"
_MADE = "made"


@dataclass(frozen=True, slots=True)
class Naive:
    """A bubblewrap, and the words that give root up before it."""

    program: Path
    drop: tuple[str, ...]

    def follows_links(self, writable: Path, victim: Path) -> bool:
        """Tell whether a mount below a bind follows a link that a guest left there, out to the host's `victim`."""
        (writable / _LINK).symlink_to(f"/oldroot{victim}")
        self._run(("--bind", str(writable), "/ws", "--dir", f"/ws/{_LINK}/{_MADE}"), "/usr/bin/true", {})
        return (victim / _MADE).exists()

    def shows_environment(self, name: str) -> bool:
        """Tell whether a guest finds a variable of bubblewrap's own, although its environment was cleared."""
        said = self._run(("--clearenv",), "/usr/bin/cat /proc/1/environ", {name: "here"})
        return name.encode() in said

    def _run(self, options: tuple[str, ...], command: str, env: dict[str, str]) -> bytes:
        words = (*self.drop, str(self.program), "--unshare-user", "--unshare-pid", "--die-with-parent")
        return subprocess.run(  # noqa: S603 (a root-owned program; the words are ours)
            (*words, *_SYSTEM, *_LINKS, *options, "--", *command.split()),
            env=env,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_ANSWER_S,
            check=False,
        ).stdout
