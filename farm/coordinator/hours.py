"""The hours: what a cell needs of the time that is left, and what was put off because it would have outlasted it.

The shell tells how much is left of the sweep's windows and of the hosts'; without windows all the time there is.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Hours:
    """The time of one run."""

    needs_s: tuple[float, ...] = ()
    """Each cell's, in plan order, from its claim to the end of its upload; empty: no window can bound it."""
    left_s: float | None = None
    """Until the last window closes that is open; None: no window bounds it."""
    put_off_s: float | None = None
    """The least that a cell needs of those that were put off; None: none was."""

    def fits(self, index: int) -> bool:
        """Say whether the cell would be done in time."""
        return self.left_s is None or not self.needs_s or self.needs_s[index] <= self.left_s

    def put_off(self, index: int) -> "Hours":
        """Note that the cell waits for a later window."""
        needed_s = self.needs_s[index] if self.needs_s else 0.0
        least_s = needed_s if self.put_off_s is None else min(self.put_off_s, needed_s)
        return self if least_s == self.put_off_s else replace(self, put_off_s=least_s)
