"""What the sweeps claim that are coordinated now."""

from typing import Protocol

from farm.model import ShareClaim


class Shares(Protocol):
    """Claims by sweep; one that nobody repeats is forgotten. May be lost. May raise TransientError."""

    def claim(self, claim: ShareClaim, ttl_s: float) -> None:
        """Put the claim in the place of the sweep's last one, for the next `ttl_s`."""
        ...

    def withdraw(self, sweep: str) -> None:
        """Forget the sweep's claim: it sends nothing more."""
        ...

    def claims(self) -> tuple[ShareClaim, ...]:
        """List the claims by sweep."""
        ...
