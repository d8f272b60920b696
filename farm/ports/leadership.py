"""One coordinator a sweep: by lease."""

from typing import Protocol

from farm.model import SweepId


class Leadership(Protocol):
    """Who coordinates a sweep. May raise TransientError."""

    def lead(self, sweep: SweepId, holder: str, ttl_s: float) -> bool:
        """Take or extend the lead for `ttl_s`; False when another holder has it."""
        ...

    def resign(self, sweep: SweepId, holder: str) -> None:
        """Give the lead up, if `holder` has it."""
        ...
