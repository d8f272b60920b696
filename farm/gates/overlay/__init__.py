"""The overlay contract, version 4: whether an instruction overlay leaves behaviour right on every planned sample."""

from farm.gates.overlay.gate import OverlayGate
from farm.gates.overlay.sample import exit_reason

__all__ = ["OverlayGate", "exit_reason"]
