"""`promotion.json` of a sealed sweep, from its records alone."""

from farm.reporting.promotion.record import objections, promotion_of

__all__ = ["objections", "promotion_of"]
