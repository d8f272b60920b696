from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.farm_command import Desk, a_desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A folder to run `farm` in."""
    (tmp_path / "here").mkdir()
    with a_desk(tmp_path / "here") as desk:
        yield desk
