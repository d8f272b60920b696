"""The agent `stand-in`: a small agent of our own, for machines on which no other can be installed."""

from worker.agents.stand_in.agent import StandInAgent

__all__ = ["StandInAgent"]
