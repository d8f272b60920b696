"""What the oracles that run hidden tests lend to the sandbox: our judge, and what runs the tests for it."""

import hashlib
from collections.abc import Iterable, Mapping
from importlib import resources

from farm.model import Digest
from worker.session import Kit

VERIFIER = "farm_verifier"
"""The folder of our scripts in a kit."""
NUMBERS = frozenset({"tests", "tests_run"})
"""What the judge counts itself."""


def verifier_files(names: Iterable[str]) -> dict[str, bytes]:
    """Read our scripts called `names`, by their places in a kit."""
    scripts = resources.files("worker.oracles.verifier")
    return {f"{VERIFIER}/{name}": (scripts / name).read_bytes() for name in names}


def kit_of(files: Mapping[str, bytes]) -> Kit:
    """Make a kit, told from others by what it holds."""
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(f"{path}\0{Digest.of(files[path])}\0".encode())
    return Kit(Digest(whole.hexdigest()), files)
