"""The agent `opencode`: OpenCode, headless, by its native program."""

from worker.agents.opencode.agent import OpencodeAgent

__all__ = ["OpencodeAgent"]
