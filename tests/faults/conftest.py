import os
from collections.abc import Iterator

import pytest

from tests.faults.fleet import Fleet, a_fleet


@pytest.fixture(scope="session")
def fleet() -> Iterator[Fleet]:
    """Run one fleet for all faults."""
    if os.geteuid() != 0:
        pytest.skip("only root can fill disks, cut networks and turn clocks")
    with a_fleet() as fleet:
        yield fleet
