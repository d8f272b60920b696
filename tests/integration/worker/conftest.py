"""A real sandbox for the line's tests."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.errors import SandboxUnavailableError
from tests.builders.worker.farm import Farm
from worker.cell.recording import LineEnd
from worker.tasks import carry


@pytest.fixture(scope="session")
def work_root() -> Iterator[Path]:
    """A root that a slot's own user can pass through: pytest's temporary folders are private."""
    root = Path(tempfile.mkdtemp(prefix="cellfarm-tests-", dir="/var/tmp"))
    root.chmod(0o711)
    yield root
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def bubblewrap(work_root: Path) -> Bubblewrap:
    try:
        return Bubblewrap(work_root)
    except SandboxUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def farm(bubblewrap: Bubblewrap, work_root: Path) -> Callable[..., Farm]:
    def make(*script: dict[str, Any], **changes: Any) -> Farm:
        return Farm(root=work_root, sandbox=changes.pop("sandbox", bubblewrap), script=list(script), **changes)

    return make


@pytest.fixture
def run() -> Callable[..., LineEnd]:
    """Carry a farm's ticket through a line of its own."""

    def one(farm: Farm, attempt: int = 1) -> LineEnd:
        line = farm.line()
        try:
            return carry(line, farm.a_ticket(attempt))
        finally:
            line.close()

    return one
