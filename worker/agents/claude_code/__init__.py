"""The agent `claude-code`: Claude Code, headless, by its native program."""

from worker.agents.claude_code.agent import ClaudeCodeAgent

__all__ = ["ClaudeCodeAgent"]
