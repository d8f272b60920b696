"""The agent `gemini-cli`: Google's Gemini CLI, headless."""

from worker.agents.gemini_cli.agent import GeminiCliAgent

__all__ = ["GeminiCliAgent"]
