"""Waiting for conditions, with a limit."""

import time
from collections.abc import Callable


def wait_until(holds: Callable[[], bool], limit_s: float = 20.0) -> None:
    """Poll `holds` until it does; fail after `limit_s`."""
    until = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < until, f"it did not come true in {limit_s} s"
        time.sleep(0.01)
