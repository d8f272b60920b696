"""Where tests run: what there can be only one of on a machine stays in one of the processes that share the tests."""

import pytest

_ALONE = {"docker_engine": "docker", "rabbitmq_server": "rabbitmq", "fleet": "fleet"}
"""Fixtures whose tests go together, and what their group, and whatever else needs them, is called."""


@pytest.hookimpl(tryfirst=True)  # before the groups are looked at
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests of each such fixture into one group."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        for fixture, group in _ALONE.items():
            # A parameter may ask for a fixture, too.
            if fixture in getattr(item, "fixturenames", ()) or group in item.nodeid:
                item.add_marker(pytest.mark.xdist_group(group))
