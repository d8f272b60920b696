"""The oracle `review`: findings of a code review against hidden labels."""

from worker.oracles.review.oracle import ReviewOracle

__all__ = ["ReviewOracle"]
