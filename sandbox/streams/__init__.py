"""What a guest writes: bounded on its way to the caller."""

from sandbox.streams.outlet import Outlet

__all__ = ["Outlet"]
