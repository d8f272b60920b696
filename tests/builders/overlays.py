"""Overlays of a test's own."""

import os
import secrets
from contextlib import contextmanager

import pytest

from sandbox.disk import Overlays
from tests.builders.sandbox_rooms import work_root


@contextmanager
def some_overlays():
    """Make overlays below a folder of their own; skip where only root could, which CI must be."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount an overlay")
    made = Overlays(work_root() / f"overlays-{secrets.token_hex(4)}")
    try:
        yield made
    finally:
        made.close()
