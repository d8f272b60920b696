"""Work roots for sandboxes: searchable by other uids, and the tools built once for a whole test run."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from sandbox.backends.bubblewrap import Bubblewrap


@cache
def work_root() -> Path:
    """Give the run's work root; pytest's own folders are closed to the slots' uids."""
    root = Path(tempfile.mkdtemp(prefix="sandbox-root-"))
    root.chmod(0o711)
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


@cache
def bubblewrap() -> Bubblewrap:
    """Give the run's backend."""
    return Bubblewrap(work_root() / "work")
