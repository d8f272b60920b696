"""The four wires by name and by path."""

from collections.abc import Mapping

from farm.model import Wire
from worker.provider.answer import Dialect
from worker.provider.anthropic import Anthropic
from worker.provider.chat import Chat
from worker.provider.gemini import Gemini
from worker.provider.responses import Responses

DIALECTS: Mapping[Wire, Dialect] = {
    Wire.ANTHROPIC: Anthropic(),
    Wire.RESPONSES: Responses(),
    Wire.CHAT: Chat(),
    Wire.GEMINI: Gemini(),
}
_ENDINGS: Mapping[str, Wire] = {
    "/messages": Wire.ANTHROPIC,
    "/responses": Wire.RESPONSES,
    "/chat/completions": Wire.CHAT,
    ":generateContent": Wire.GEMINI,
    ":streamGenerateContent": Wire.GEMINI,
}


def wire_of(path: str) -> Wire | None:
    """Tell by which wire a path asks a model; None: it asks none."""
    return next((wire for ending, wire in _ENDINGS.items() if path.endswith(ending)), None)
