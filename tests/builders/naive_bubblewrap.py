"""Bubblewrap as one would run it without a second thought: no filter, no init of ours. What is shown by it is real."""

import subprocess

from tests.builders.sandbox_rooms import drop_to, system_python

_SYSTEM = ("--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64")
_PRIVATE = ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")  # noqa: S108 (the sandbox's own)


def naive_words():
    """Give the words before bubblewrap's further options."""
    unshare = ("--unshare-user", "--unshare-pid", "--uid", "1000", "--gid", "1000", "--die-with-parent")
    return (*drop_to("ordinary"), "bwrap", *unshare, *_SYSTEM, *_PRIVATE)


def naive(*options, command=(), script=None, limit_s=20.0, env=None, pass_fds=()):
    """Run `command`, or a Python `script`, never as root; raises subprocess.TimeoutExpired when it does not end."""
    command = command or (system_python(), "-I", "-S", "-B", "-c", script)
    words = (*naive_words(), *options, "--", *command)
    return subprocess.run(
        [str(word) for word in words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        timeout=limit_s,
        env={"PATH": "/usr/bin:/bin", **(env or {})},
        pass_fds=pass_fds,
    )
