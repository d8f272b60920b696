"""An ordinary user's rights, where the tests run as root."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from worker.trees.removing import remove_tree


@pytest.fixture
def as_an_ordinary_user() -> Iterator[Path]:
    """A folder of a user who is not root, and that user's rights for the test's length."""
    place = Path(tempfile.mkdtemp(dir="/var/tmp"))
    uid = os.geteuid() or 65534
    os.chown(place, uid, -1)
    was = os.geteuid()
    os.seteuid(uid)
    yield place
    os.seteuid(was)
    remove_tree(place)
