"""What a guest writes: bounded on its way to the caller."""

from sandbox.streams.capped import Capped, over_cap
from sandbox.streams.outlet import Outlet

__all__ = ["Capped", "Outlet", "over_cap"]
