"""Waits, each with its limit."""

import select
import subprocess


def is_readable(fd: int, limit_s: float) -> bool:
    """Wait until `fd` is readable, for so long at most."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(max(0.0, limit_s) * 1000))


def is_waited_for(process: subprocess.Popen[bytes], limit_s: float) -> bool:
    """Wait until our child has ended, for so long at most."""
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return False
    return True
