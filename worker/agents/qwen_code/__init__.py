"""The agent `qwen-code`: Qwen Code, headless."""

from worker.agents.qwen_code.agent import QwenCodeAgent

__all__ = ["QwenCodeAgent"]
