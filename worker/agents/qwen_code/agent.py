"""How Qwen Code is started, so that nothing but its pinned program, its arm and the workspace decide what it does.

Measured with 0.24.4; what looks odd has a reason:

- The prompt goes by standard input and instructions by a file of its user's: an argument holds 128 KiB at most.
- Its settings are those of the system, which win over the workspace's: those could turn hooks on again.
- Of the workspace's own servers none is started: only those whose names it is given are allowed, also where none is.
- Each flag once: one that is repeated crashes it.
- A request that was turned away it sends seven times, which takes a minute and a half and can't be changed; the
  retries that its client would do for each of them are off.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from farm.model import Name, Value, Wire
from worker.agents.options import ExactVersion, ModelId, SkillName, ensure_known
from worker.agents.qwen_code.events import Expected, QwenCodeParser
from worker.agents.servers import MOST_SERVERS, McpServer
from worker.options import checked
from worker.session import AGENT, DOOR_KEY, DOOR_URL, HOME, AgentProgram, Launch, SessionRequest, asset_path

KIND = "qwen-code"
TESTED_VERSION = "0.24.4"

_INSTRUCTIONS = ".qwen/QWEN.md"
_SERVERS = ".farm/servers.json"
_SETTINGS = ".farm/settings.json"
_START_MS = 30_000
_DIALECTS = {
    Wire.CHAT: "openai",
    Wire.RESPONSES: "openai-responses",
    Wire.ANTHROPIC: "anthropic",
    Wire.GEMINI: "gemini",
}
"""What it calls the wires."""
_SETTABLE = frozenset({"QWEN_CODE_MAX_OUTPUT_TOKENS", "TZ"})

Tool = Annotated[str, Field(pattern=r"^[a-z][a-z_]{0,99}$")]


class QwenCodeOptions(Value):
    """What an arm may choose."""

    version: ExactVersion = TESTED_VERSION
    """Of Qwen Code: a host with another one does not take the cell."""
    model: ModelId
    most_turns: Annotated[int, Field(ge=1)] | None = None
    denied_tools: tuple[Tool, ...] = ()
    skills: tuple[Name, ...] = ()
    """Assets of the arm that hold skills: `<name>/SKILL.md`. One of the workspace with the same name wins."""
    mcp: Annotated[dict[Name, McpServer], Field(max_length=MOST_SERVERS)] = {}
    """Servers of the arm; no others are started. A session ends as `stream_invalid` when one of them did not answer
    within 30 s."""
    required_skill: SkillName | None = None
    """A session that did not use it with success is `skill-not-invoked`."""
    env: dict[str, str] = {}

    @model_validator(mode="after")
    def _env_is_known(self) -> Self:
        ensure_known(self.env, _SETTABLE)
        return self


class QwenCodeAgent:
    """Starts Qwen Code and reads its stream of JSON events."""

    version = "1"
    wires: tuple[Wire, ...] = tuple(_DIALECTS)

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(QwenCodeOptions, options, f"agent {KIND!r}")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json", exclude_none=True)
        self.program: AgentProgram | None = AgentProgram(KIND, self._options.version)
        servers = (server.asset for server in self._options.mcp.values())
        self.assets: tuple[str, ...] = tuple(dict.fromkeys((*self._options.skills, *servers)))

    def launch(self, request: SessionRequest) -> Launch:
        options = self._options
        words = [f"{AGENT}/bin/qwen", "--output-format", "stream-json", "--approval-mode", "yolo"]
        words += ["--auth-type", _DIALECTS[request.wire or Wire.CHAT], "--model", options.model]
        if options.most_turns is not None:
            words += ["--max-session-turns", str(options.most_turns)]
        if options.mcp:
            words += ["--mcp-config", f"{HOME}/{_SERVERS}"]
        words += ["--allowed-mcp-server-names", *(options.mcp or ("",))]
        return Launch(
            argv=tuple(words),
            env={**_env(options), **options.env},
            stdin=request.prompt.encode(),
            home_files=_home_files(options, request.instructions),
            starts_servers=bool(options.mcp),
            models=(options.model,),
        )

    def parser(self, name: str) -> QwenCodeParser:
        options = self._options
        return QwenCodeParser(name, Expected(options.version, tuple(options.mcp), options.required_skill))


def _env(options: QwenCodeOptions) -> Mapping[str, str]:
    return {
        "ANTHROPIC_API_KEY": DOOR_KEY,
        "ANTHROPIC_BASE_URL": DOOR_URL,
        "ANTHROPIC_MODEL": options.model,
        "GEMINI_API_KEY": DOOR_KEY,
        "GEMINI_MODEL": options.model,
        "GOOGLE_GEMINI_BASE_URL": DOOR_URL,
        "HOME": HOME,
        "OPENAI_API_KEY": DOOR_KEY,
        "OPENAI_BASE_URL": f"{DOOR_URL}/v1",
        "OPENAI_MODEL": options.model,
        "QWEN_CODE_NO_RELAUNCH": "true",
        "QWEN_CODE_SYSTEM_SETTINGS_PATH": f"{HOME}/{_SETTINGS}",
    }


def _home_files(options: QwenCodeOptions, instructions: str | None) -> dict[str, bytes]:
    files = {_SETTINGS: json.dumps(_settings(options)).encode()}
    if options.mcp:
        servers = {name: _server(server) for name, server in options.mcp.items()}
        files[_SERVERS] = json.dumps({"mcpServers": servers}).encode()
    if instructions is not None:
        files[_INSTRUCTIONS] = instructions.encode()
    return files


def _server(server: McpServer) -> JsonValue:
    program, *arguments = server.command
    tools: dict[str, JsonValue] = {} if server.tools is None else {"includeTools": list(server.tools)}
    return {"command": program, "args": list(arguments), "trust": True, "discoveryTimeoutMs": _START_MS, **tools}


def _settings(options: QwenCodeOptions) -> JsonValue:
    return {
        "disableAllHooks": True,
        "general": {"enableAutoUpdate": False},
        "model": {"generationConfig": {"maxRetries": 0}},
        "privacy": {"usageStatisticsEnabled": False},
        "skills": {"directories": [asset_path(name) for name in options.skills]},
        "tools": {"exclude": list(options.denied_tools)},
    }
