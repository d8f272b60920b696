"""How OpenCode is started, so that nothing but its pinned program, its arm and the workspace decide what it does.

Measured with 1.18.33; what looks odd has a reason:

- The prompt goes by standard input: an argument holds 128 KiB at most.
- A title, or it asks the model for one, of which its own numbers say nothing.
- A workspace's configuration is never read: it could name programs to start. Its AGENTS.md is, and its skills.
- Of a server that did not start it says nothing but by its log, so it is asked for that one where there are servers.
- Its tools that search, and the one that reads skills, need ripgrep, which it would download: it finds ours.
- Its cap of steps does no more than ask the model to stop, so it is no option.
- It is told no prices: the cost that it states without them is 0.
- A provider that turns it away it asks six times, which takes a minute in silence and can't be changed; how long it is
  told to wait, it waits without a bound, so the door bounds it.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from farm.model import Name, Value, Wire
from worker.agents.opencode.events import OpencodeParser
from worker.agents.options import ExactVersion, ModelId, SkillName, ensure_known
from worker.agents.servers import MOST_SERVERS, McpServer
from worker.options import checked
from worker.session import AGENT, DOOR_KEY, DOOR_URL, HOME, WORKSPACE, AgentProgram, Launch, SessionRequest, asset_path

KIND = "opencode"
TESTED_VERSION = "1.18.33"

_CONFIG = ".config/opencode/opencode.json"
_INSTRUCTIONS = ".config/opencode/AGENTS.md"
_SEARCHER = ".cache/opencode/bin/rg"
_PROVIDER = "farm"
_START_MS = 30_000
_LIBRARIES = {
    Wire.ANTHROPIC: "@ai-sdk/anthropic",
    Wire.RESPONSES: "@ai-sdk/openai",
    Wire.CHAT: "@ai-sdk/openai-compatible",
}
"""Each is a part of the program."""
_SETTABLE = frozenset({"OPENCODE_DISABLE_AUTOCOMPACT", "OPENCODE_DISABLE_PRUNE", "TZ"})
_ALWAYS = {
    "HOME": HOME,
    **dict.fromkeys(
        (
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_PROJECT_CONFIG",
            "OPENCODE_DISABLE_SHARE",
            "OPENCODE_PURE",
        ),
        "1",
    ),
}

Tool = Annotated[str, Field(pattern=r"^[a-z][a-z_]{0,99}$")]


class OpencodeOptions(Value):
    """What an arm may choose."""

    version: ExactVersion = TESTED_VERSION
    """Of OpenCode: a host with another one does not take the cell."""
    model: ModelId
    context_tokens: Annotated[int, Field(ge=1)] = 200_000
    """Of the model; it is told, and shortens the conversation by it."""
    output_tokens: Annotated[int, Field(ge=1)] = 32_000
    """Of one answer of the model, at most."""
    denied_tools: tuple[Tool, ...] = ("webfetch", "websearch")
    project: bool = True
    """Read what the workspace says to it: AGENTS.md, skills in `.agents` and `.claude`; never its configuration."""
    skills: tuple[Name, ...] = ()
    """Assets of the arm that hold skills: `<name>/SKILL.md`."""
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


class OpencodeAgent:
    """Starts OpenCode and reads its JSON events."""

    version = "1"
    wires: tuple[Wire, ...] = tuple(_LIBRARIES)

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(OpencodeOptions, options, f"agent {KIND!r}")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json", exclude_none=True)
        self.program: AgentProgram | None = AgentProgram(KIND, self._options.version)
        servers = (server.asset for server in self._options.mcp.values())
        self.assets: tuple[str, ...] = tuple(dict.fromkeys((*self._options.skills, *servers)))

    def launch(self, request: SessionRequest) -> Launch:
        config = json.dumps(_config(self._options, request.wire or Wire.ANTHROPIC)).encode()
        instructions = {} if request.instructions is None else {_INSTRUCTIONS: request.instructions.encode()}
        logs = ("--print-logs", "--log-level", "WARN") if self._options.mcp else ()
        return Launch(
            argv=(f"{AGENT}/bin/opencode", "run", "--format", "json", "--title", "session", *logs),
            env={**_ALWAYS, **_deafness(self._options), **self._options.env},
            stdin=request.prompt.encode(),
            home_files={_CONFIG: config, **instructions},
            home_links={_SEARCHER: f"{AGENT}/bin/rg"},
            starts_servers=bool(self._options.mcp),
            models=(self._options.model,),
        )

    def parser(self, name: str) -> OpencodeParser:
        return OpencodeParser(name, self._options.required_skill, tuple(self._options.mcp))


def _deafness(options: OpencodeOptions) -> Mapping[str, str]:
    return {} if options.project else {"OPENCODE_DISABLE_EXTERNAL_SKILLS": "1"}


def _config(options: OpencodeOptions, wire: Wire) -> Mapping[str, JsonValue]:
    model = f"{_PROVIDER}/{options.model}"
    return {
        "autoupdate": False,
        "share": "disabled",
        "enabled_providers": [_PROVIDER],
        "model": model,
        "small_model": model,
        "permission": {"*": "allow", **_rules(options.mcp), **dict.fromkeys(options.denied_tools, "deny")},
        "skills": {"paths": [asset_path(name) for name in options.skills]},
        "mcp": {name: _server(server) for name, server in options.mcp.items()},
        "instructions": [f"{WORKSPACE}/AGENTS.md"] if options.project else [],
        "provider": {
            _PROVIDER: {
                "npm": _LIBRARIES[wire],
                "options": {"baseURL": f"{DOOR_URL}/v1", "apiKey": DOOR_KEY},
                "models": {
                    options.model: {"limit": {"context": options.context_tokens, "output": options.output_tokens}}
                },
            }
        },
    }


def _rules(servers: Mapping[str, McpServer]) -> Mapping[str, JsonValue]:
    """Say which tools of servers may be used; the last rule that matches counts."""
    rules: dict[str, JsonValue] = {}
    for name, server in servers.items():
        if server.tools is not None:
            rules |= {f"{name}_*": "deny", **{f"{name}_{tool}": "allow" for tool in server.tools}}
    return rules


def _server(server: McpServer) -> JsonValue:
    return {"type": "local", "command": list(server.command), "enabled": True, "timeout": _START_MS}
