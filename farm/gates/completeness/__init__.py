"""Whether what was planned was measured."""

from farm.gates.completeness.gate import CompletenessGate

__all__ = ["CompletenessGate"]
