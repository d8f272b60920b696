"""Lets an agent that speaks Anthropic Messages ask a provider that speaks an OpenAI wire, by LiteLLM (ops/adr/0019)."""

from worker.translator.translator import INSTALL, SPOKEN, UNDERSTOOD, Address, Translator, has_litellm

__all__ = ["INSTALL", "SPOKEN", "UNDERSTOOD", "Address", "Translator", "has_litellm"]
