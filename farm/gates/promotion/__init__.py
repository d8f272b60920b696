"""The workflow benchmark's contract: whether a candidate takes its incumbent's place, and what each row counts for."""

from farm.gates.promotion.gate import PromotionGate

__all__ = ["PromotionGate"]
