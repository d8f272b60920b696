"""Whether each arm's measuring works at all, whatever was answered."""

from farm.gates.health.arm_health import ArmHealth, HealthStatus, arm_health
from farm.gates.health.gate import HealthGate

__all__ = ["ArmHealth", "HealthGate", "HealthStatus", "arm_health"]
