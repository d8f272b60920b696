"""What a request would have its provider run, fetch or remember: a sandbox without network must not end there.

What must stay true: a tool passes only when the agent runs it, and content only when it stands in the body. Keys are
compared without case and underscores, since some providers take `fileUri`, `file_uri` and `FileUri` for one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from pydantic import JsonValue

from farm.model import Wire

_Object = Mapping[str, JsonValue]
_ELSEWHERE = {"mcpservers", "container", "websearchoptions", "plugins"}
"""Outermost keys by which the provider calls servers, runs code or searches."""
_STORED = {"previousresponseid", "conversation", "prompt", "cachedcontent"}
"""Outermost keys that refer to input that is kept at the provider."""
_ANTHROPIC_TOOLS = ("bash_", "text_editor_", "memory_", "computer_", "tool_search_tool_")
"""The agent runs them; the last looks for tools in the body itself."""
_RESPONSES_TOOLS = {"function", "custom", "local_shell", "apply_patch"}
_CHAT_TOOLS = {"function", "custom"}
_DATA = {"inputschema", "parameters", "parametersjsonschema", "responsejsonschema", "responseschema", "args", "schema"}
"""What is data to the provider, whatever it says."""
_MOST_TOLD = 60


@dataclass(frozen=True, slots=True)
class _Met:
    key: str
    """Under which it stands; that of its list for a list's."""
    value: _Object


def reaching(wire: Wire, body: _Object) -> str | None:
    """Say what in a request reaches further than its model; None: nothing."""
    for key, value in body.items():
        if _plain(key) in _ELSEWHERE and value not in (None, [], {}):
            return f"{key!r}: the provider would reach other servers or run code"
        if _plain(key) in _STORED and value is not None:
            return f"{key!r}: it refers to what is kept at the provider; send the whole conversation"
        if _plain(key) == "background" and value is not False and value is not None:
            return "'background': its answer would come another way"
    for met in _objects(body):
        found = _tools(wire, met.value) or _source(met)
        if found is not None:
            return found
    return None


def _objects(body: _Object) -> Iterator[_Met]:
    """Give every object that the provider reads as more than data."""
    waiting: list[_Met] = [_Met("", body)]
    while waiting:
        met = waiting.pop()
        yield met
        is_outermost = met.value is body
        for key, value in met.value.items():
            plain = _plain(key)
            if plain in _DATA or (plain in {"input", "response"} and isinstance(value, dict) and not is_outermost):
                continue
            _add(waiting, plain, value)


def _add(waiting: list[_Met], key: str, value: JsonValue) -> None:
    lists = [value] if isinstance(value, list) else []
    if isinstance(value, dict):
        waiting.append(_Met(key, value))
    while lists:
        for one in lists.pop():
            if isinstance(one, dict):
                waiting.append(_Met(key, one))
            elif isinstance(one, list):
                lists.append(one)


def _tools(wire: Wire, holder: _Object) -> str | None:
    """Look at the tools that an object offers."""
    for key, tools in holder.items():
        if _plain(key) == "tools" and isinstance(tools, list | dict):
            for tool in tools if isinstance(tools, list) else [tools]:
                if isinstance(tool, dict) and not _is_agents(wire, tool):
                    name = str(tool.get("type") or ", ".join(tool))[:_MOST_TOLD]
                    return f"the tool {name!r}: the provider would run it, or ask another model"
    return None


def _is_agents(wire: Wire, tool: _Object) -> bool:
    """Say whether the agent itself runs a tool."""
    kind = tool.get("type")
    match wire:
        case _ if any(_plain(key) == "model" and value is not None for key, value in tool.items()):
            return False
        case Wire.ANTHROPIC:
            return kind in (None, "custom") or (isinstance(kind, str) and kind.startswith(_ANTHROPIC_TOOLS))
        case Wire.RESPONSES:
            environment = tool.get("environment")
            return (
                (isinstance(kind, str) and kind in _RESPONSES_TOOLS)
                or (kind == "namespace" and isinstance(tool.get("tools"), list))  # which is looked at by itself
                or (kind == "tool_search" and tool.get("execution") == "client")
                or (kind == "shell" and isinstance(environment, dict) and environment.get("type") == "local")
            )
        case Wire.CHAT:
            return isinstance(kind, str) and kind in _CHAT_TOOLS
        case Wire.GEMINI:
            return {_plain(key) for key, value in tool.items() if value is not None} <= {"functiondeclarations"}
        case _:
            assert_never(wire)


def _source(met: _Met) -> str | None:
    """Look at where content comes from."""
    kind = met.value.get("type")
    if met.key == "source" and kind in ("url", "file"):
        return f"a source of the type {kind!r}: send its bytes"
    if kind == "item_reference" or (met.key == "input" and set(map(_plain, met.value)) <= {"id", "type"}):
        return "an item that is kept at the provider: send the item"
    if kind == "mcp":
        return "'mcp': the provider would reach other servers"
    for key, value in met.value.items():
        match _plain(key):
            case "fileid" | "fileids" | "fileuri" | "fileurl" | "vectorstoreids" if value not in (None, "", []):
                return f"{key!r}: it names a file that is not in the request; send its bytes"
            case "imageurl" | "videourl" if (url := _url(value)) is not None and not url.startswith("data:"):
                return f"{key!r}: it leads out of the request; send its bytes"
            case _:
                pass
    return None


def _url(value: JsonValue) -> str | None:
    found = value.get("url") if isinstance(value, dict) else value
    return found if isinstance(found, str) else None


def _plain(key: str) -> str:
    return key.replace("_", "").casefold()
