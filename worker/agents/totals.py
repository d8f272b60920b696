"""Sums over a session, from a stream that states its parts."""

from collections.abc import Iterable

from farm.model import Usage

_MOST_TOOLS = 1000


def summed(usages: Iterable[Usage]) -> Usage | None:
    """Add up what requests used; what one of them leaves out is unknown, and so is all when there was none."""
    parts = [usage.model_dump() for usage in usages]
    if not parts:
        return None
    columns = {name: [part[name] for part in parts] for name in Usage.model_fields}
    return Usage(**{name: None if None in column else sum(column) for name, column in columns.items()})


class ToolCalls:
    """Counts tool calls by name, of which there may be a bounded number."""

    def __init__(self) -> None:
        self.by_name: dict[str, int] = {}

    @property
    def total(self) -> int:
        return sum(tuple(self.by_name.values()))

    def count(self, name: str | None) -> str | None:
        """Take one call; give what is wrong with it."""
        if name is None:
            return "a tool call without a name"
        if name not in self.by_name and len(self.by_name) >= _MOST_TOOLS:
            return "tool calls of too many names"
        self.by_name[name] = self.by_name.get(name, 0) + 1
        return None
