"""The agent `aider`: aider, headless, which edits by what a model says and calls no tools."""

from worker.agents.aider.agent import AiderAgent

__all__ = ["AiderAgent"]
