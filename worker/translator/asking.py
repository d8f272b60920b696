"""What of a guest's request LiteLLM is given, and where that may go.

LiteLLM takes its own settings (`api_base`, `mock_response`, callbacks, …) from the same arguments as a request's
fields. The guest is hostile: what is passed on is what the wire knows, by name, and nothing else.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from farm.model import Wire

_FIELDS = (
    "max_tokens",
    "messages",
    "metadata",
    "output_config",
    "output_format",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
)
"""Not `context_management`: on a provider's behalf LiteLLM would ask models of its own choice to carry it out."""
_NEEDED = {"model": str, "max_tokens": int, "messages": list}
_PROVIDERS = {Wire.RESPONSES: "openai", Wire.CHAT: "hosted_vllm"}
"""What LiteLLM calls a provider that speaks the wire; `openai` is always asked by Responses."""
_MESSAGES = "/v1/messages"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes: a provider's wire, and the socket of the door that leads there."""

    wire: Wire
    door: Path


def target_of(path: str) -> Target | None:
    """Read a request's own path, /<wire>/<the door's place, percent-encoded>/v1/messages; None when it is not that."""
    wire, _, place = path.removesuffix(_MESSAGES).removeprefix("/").partition("/")
    if not path.endswith(_MESSAGES) or wire not in _PROVIDERS or not place:
        return None
    return Target(Wire(wire), Path(unquote(place)))


def arguments_of(wire: Wire, body: bytes) -> Mapping[str, Any]:
    """Give the arguments for LiteLLM; raise ValueError for a body that is no request."""
    asked = json.loads(body)
    fields = asked if isinstance(asked, dict) else {}
    is_whole = all(isinstance(fields.get(name), kind) for name, kind in _NEEDED.items())
    if not is_whole:
        raise ValueError(f"a request needs {', '.join(_NEEDED)}")
    given = {name: fields[name] for name in _FIELDS if name in fields}
    return given | {"model": f"{_PROVIDERS[wire]}/{fields['model']}"}
