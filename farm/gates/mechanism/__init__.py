"""Whether a governor does what it is built for, where the agent's part is scripted."""

from farm.gates.mechanism.gate import MechanismGate

__all__ = ["MechanismGate"]
