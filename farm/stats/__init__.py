"""Statistics that reports and gates need; scipy stays in here."""

from farm.stats.proportion import Interval, wilson

__all__ = ["Interval", "wilson"]
