"""Whether a governor makes an agent's claims of success more reliable: the reliability protocol's ruling."""

from farm.gates.reliability.gate import ReliabilityGate

__all__ = ["ReliabilityGate"]
