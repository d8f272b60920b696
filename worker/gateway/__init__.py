"""The door between a cell's sessions and their provider: it lets generation requests pass, and meters them."""

from worker.gateway.gateway import Gateway, OpenDoor
from worker.gateway.purse import Purse
from worker.gateway.values import OnPressure, Pass, Patience, Upstream

__all__ = ["Gateway", "OnPressure", "OpenDoor", "Pass", "Patience", "Purse", "Upstream"]
