"""What planning asks of others: plug-ins by name."""

from collections.abc import Callable
from typing import Any, Protocol

from farm.model import PluginGroup


class PluginSource(Protocol):
    """Where plug-ins come from."""

    def check(self, group: PluginGroup, name: str) -> None:
        """Raise SpecError unless the group has a plug-in called `name`."""
        ...

    def load(self, group: PluginGroup, name: str) -> Callable[..., Any]:
        """Return the plug-in; raise SpecError when it is unknown or can't be imported."""
        ...
