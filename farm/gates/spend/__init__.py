"""What a sweep took, in money or tokens, over all its attempts."""

from farm.gates.spend.gate import SpendGate

__all__ = ["SpendGate"]
