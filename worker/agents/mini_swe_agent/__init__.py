"""The agent `mini-swe-agent`: one tool, a shell; the control of many a comparison."""

from worker.agents.mini_swe_agent.agent import MiniSweAgent

__all__ = ["MiniSweAgent"]
