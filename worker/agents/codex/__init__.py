"""The agent `codex`: OpenAI's Codex, headless, by its native program."""

from worker.agents.codex.agent import CodexAgent

__all__ = ["CodexAgent"]
