"""Whether candidates are better than their incumbent, or not worse, on the tasks that both ran."""

from farm.gates.paired.gate import PairedGate

__all__ = ["PairedGate"]
