"""Lanes: the cells that need the same of a host. What no host can run now keeps no place from the others."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from farm.coordinator.ledger import trailing_ones

NO_HOST = -1
"""The lane of cells that need no host: it is always open."""


@dataclass(frozen=True, slots=True)
class Lanes:
    """Each cell's lane, and which lanes are closed because no host takes from them."""

    of: tuple[int, ...] = ()
    """By cell, in plan order; empty: all cells are in one lane, which is always open."""
    closed: frozenset[int] = frozenset()
    _cells: Mapping[int, int] = field(default_factory=dict)
    """Each lane's cells, as bits."""
    _shut: int = 0
    """The cells of closed lanes, as bits."""

    @classmethod
    def numbered(cls, of: tuple[int, ...]) -> "Lanes":
        """Begin with every lane open."""
        lanes = set(of) - {NO_HOST}
        if len(lanes) < 2:  # noqa: PLR2004 (one lane is none)
            return cls()
        backwards = of[::-1]
        cells = {lane: int("".join("1" if one == lane else "0" for one in backwards), 2) for lane in lanes}
        return cls(of=of, _cells=cells)

    def close(self, closed: frozenset[int]) -> "Lanes":
        """Close these lanes and open all others; where none would be open, none is closed: somebody may come."""
        closed = frozenset() if closed >= self._cells.keys() else closed & self._cells.keys()
        shut = 0
        for lane in closed:
            shut |= self._cells[lane]
        return replace(self, closed=closed, _shut=shut)

    def is_closed(self, index: int) -> bool:
        """Say whether no host takes the cell now."""
        return bool(self.closed) and self.of[index] in self.closed

    def next_open(self, index: int) -> int:
        """Return the first cell at or after `index` that is in an open lane, or is past the plan's end."""
        return index + trailing_ones(self._shut >> index) if self.closed else index
