"""The registry of plug-ins: agents, programs, oracles, gates, sandboxes and stores, by entry point.

Nothing is imported before it is asked for, and our own plug-ins are found the same way as anybody's.
"""

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from farm.errors import SpecError, did_you_mean
from farm.model import PluginGroup

Factory = Callable[..., Any]
"""A plug-in's class or opening function; each group's protocol says how it is called."""


class Plugins:
    """Plug-ins by group and name.

    Without an argument they are the installed entry points (`farm.agents`, …); with one, exactly what is given.
    """

    def __init__(self, given: Mapping[str, Mapping[str, Factory]] | None = None) -> None:
        self._given = given
        self._found: dict[str, Mapping[str, EntryPoint]] = {}
        self._loaded: dict[str, dict[str, Factory]] = {}

    def names(self, group: PluginGroup) -> tuple[str, ...]:
        """List what a group offers, sorted."""
        known = self._entries(group) if self._given is None else self._given.get(group, {})
        return tuple(sorted(known))

    def check(self, group: PluginGroup, name: str) -> None:
        """Raise SpecError unless the group has a plug-in called `name`; nothing is imported."""
        names = self.names(group)
        if name in names:
            return
        offer = did_you_mean(name, names) if names else "none is installed"
        raise SpecError(f"there is no plug-in {name!r} among the {group}; {offer}")

    def load(self, group: PluginGroup, name: str) -> Factory:
        """Import the plug-in, once; raise SpecError when it is unknown or can't be imported."""
        loaded = self._loaded.setdefault(group, {})
        if name not in loaded:
            self.check(group, name)
            loaded[name] = self._import(group, name)
        return loaded[name]

    def _import(self, group: PluginGroup, name: str) -> Factory:
        if self._given is not None:
            return self._given[group][name]
        entry = self._entries(group)[name]
        try:
            found: Factory = entry.load()
        except (ImportError, AttributeError) as error:
            package = entry.dist.name if entry.dist else entry.module
            raise SpecError(
                f"the plug-in {name!r} of the {group} can't be imported from {entry.value!r} "
                f"(package {package}): {error}; install the package again, whole"
            ) from error
        return found

    def _entries(self, group: PluginGroup) -> Mapping[str, EntryPoint]:
        if group not in self._found:
            self._found[group] = {entry.name: entry for entry in entry_points(group=f"farm.{group}")}
        return self._found[group]
