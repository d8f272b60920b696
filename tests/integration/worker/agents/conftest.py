"""A stage for sessions of real agents."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from farm.adapters.system_clock import SystemClock
from sandbox.backends.bubblewrap import Bubblewrap
from tests.builders.worker.live import Stage
from worker.agents.installed import InstalledPrograms
from worker.gateway import Gateway


@pytest.fixture
def stage(bubblewrap: Bubblewrap, work_root: Path, agents_folder: Path) -> Iterator[Stage]:
    gateway = Gateway(SystemClock())
    made = Stage(bubblewrap, work_root, gateway, InstalledPrograms(agents_folder))
    try:
        yield made
    finally:
        gateway.close()
        made.clear()
