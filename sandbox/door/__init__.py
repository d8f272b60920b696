"""The host's side of a cell's one way out."""

from sandbox.door.listener import listening

__all__ = ["listening"]
