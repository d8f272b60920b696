"""Where tests run: what there can be only one of on a machine stays in one of the processes that share the tests.

Groups are told by name: xdist's own mark for it says nothing under pytest 9.2.
"""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from xdist.scheduler import LoadScopeScheduling

_ALONE = {"tests/faults/": "fleet", "docker": "docker", "rabbit": "rabbitmq"}
"""What is in the names of tests that go together, and what their group is called."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> "LoadScopeScheduling":
    """Give each test out by itself, but for the groups: those go first, and each to one process."""
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415 (only where there are several processes)

    class InOnePlace(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((group for part, group in _ALONE.items() if part in nodeid.lower()), nodeid)

    return InOnePlace(config, log)
