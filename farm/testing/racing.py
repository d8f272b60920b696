"""Threads that start together, for races."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

R = TypeVar("R")


def at_once(calls: Iterable[Callable[[], R]]) -> list[R]:
    """Make all calls at the same time, each in its own thread, and return their answers in order."""
    waiting = tuple(calls)
    barrier = threading.Barrier(len(waiting))

    def after_the_others(call: Callable[[], R]) -> R:
        barrier.wait(timeout=30)
        return call()

    with ThreadPoolExecutor(len(waiting)) as threads:
        return list(threads.map(after_the_others, waiting))
