"""Short work without a search for garbage: loading modules, and verbs that end at once, leave none worth the time."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Let nothing look for cycles meanwhile."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
