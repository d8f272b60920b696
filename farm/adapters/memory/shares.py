"""Claims of a share, in a dict."""

from dataclasses import dataclass

from farm.model import ShareClaim
from farm.ports import Clock


@dataclass(frozen=True, slots=True)
class _Noted:
    claim: ShareClaim
    until_s: float


class MemoryShares:
    """Claims with the end of their time, on `clock`'s monotonic time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._noted: dict[str, _Noted] = {}

    def claim(self, claim: ShareClaim, ttl_s: float) -> None:
        self._noted[claim.sweep] = _Noted(claim, self._clock.monotonic() + ttl_s)

    def withdraw(self, sweep: str) -> None:
        self._noted.pop(sweep, None)

    def claims(self) -> tuple[ShareClaim, ...]:
        now_s = self._clock.monotonic()
        return tuple(self._noted[name].claim for name in sorted(self._noted) if self._noted[name].until_s > now_s)
