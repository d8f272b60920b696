"""Bubblewrap as one would run it without a second thought: no filter, no init of ours. What is shown by it is real."""

import os
import subprocess

from tests.builders.sandbox_rooms import AN_ORDINARY_USER, system_python

_DROP = ("setpriv", f"--reuid={AN_ORDINARY_USER}", f"--regid={AN_ORDINARY_USER}", "--clear-groups")
_SYSTEM = ("--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64")
_PRIVATE = ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")  # noqa: S108 (the sandbox's own)


def naive(*options, command=(), script=None, limit_s=20.0, env=None, pass_fds=()):
    """Run `command`, or a Python `script`, never as root; raises subprocess.TimeoutExpired when it does not end."""
    command = command or (system_python(), "-I", "-S", "-B", "-c", script)
    drop = _DROP if os.geteuid() == 0 else ()
    unshare = ("--unshare-user", "--unshare-pid", "--uid", "1000", "--gid", "1000", "--die-with-parent")
    words = (*drop, "bwrap", *unshare, *_SYSTEM, *_PRIVATE, *options, "--", *command)
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
