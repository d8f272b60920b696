"""How Claude Code is started, so that nothing but its pinned program, its arm and the workspace decide what it does.

Measured with 2.1.332; what looks odd has a reason:

- The prompt goes by standard input: its lists of tools would swallow a prompt among the arguments, and one argument
  holds 128 KiB at most. Instructions go by a file, for the same bound.
- It is given its door twice: requests go straight to the socket, but only with a base URL that says `http`; without
  one it speaks TLS to the socket and fails after 18 s.
- `--tools` and `--allowedTools` both: the one decides which tools there are, the other which need no leave.
- Background tasks are off: one that ends after the answer starts a second conversation, with a second result.
- A refused key is retried as if it were an outage, by default for three minutes.
- There is no session id among the arguments: one that was used before would be refused. A session that goes on with
  another is told that one's id, finds its record below .claude/projects, and counts the cost of both.
- Servers of its configuration are waited for, 30 s at most; those that a plug-in or the workspace names are left out.
- Its own sandbox for Bash stays off: inside ours every command would fail, with exit code 0.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from farm.model import Name, Value, Wire
from sandbox.spec import DOOR, TOOL
from worker.agents.claude_code.events import ClaudeCodeParser, Expected
from worker.agents.options import ExactVersion, ModelId, SkillName, ensure_known
from worker.agents.servers import MOST_SERVERS, McpServer
from worker.options import checked
from worker.session import AGENT, DOOR_KEY, DOOR_URL, HOME, AgentProgram, Counted, Launch, SessionRequest, asset_path

KIND = "claude-code"
TESTED_VERSION = "2.1.332"

Tool = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,99}(\([^\n]{1,500}\))?$")]
"""`Bash`, or a rule such as `Bash(git log *)`."""

_INSTRUCTIONS = ".farm/instructions.md"
_SERVERS = ".farm/servers.json"
_SKILLS = "/cell/skills"
"""A plug-in is a folder that holds `skills`: the asset is seen as that folder."""
_CONVERSATIONS = ".claude/projects"
_SEAL = ".farm/sealed.sh"
_SEALED = f'exec {TOOL} /bin/bash -c "$1"\n'
"""What the prefix of its shell starts in place of a command."""
_ALIASES = frozenset({"best", "default", "fable", "haiku", "inherit", "opus", "opusplan", "sonnet"})
_SETTABLE = frozenset(
    {
        "BASH_DEFAULT_TIMEOUT_MS",
        "BASH_MAX_OUTPUT_LENGTH",
        "BASH_MAX_TIMEOUT_MS",
        "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
        "CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
        "DISABLE_AUTO_COMPACT",
        "DISABLE_PROMPT_CACHING",
        "ENABLE_PROMPT_CACHING_1H",
        "MAX_THINKING_TOKENS",
        "TZ",
    }
)
_TIERS = (
    "ANTHROPIC_DEFAULT_FABLE_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "CLAUDE_CODE_SUBAGENT_MODEL",
)
_ALWAYS = {
    "ANTHROPIC_API_KEY": DOOR_KEY,
    "ANTHROPIC_BASE_URL": DOOR_URL,
    "ANTHROPIC_UNIX_SOCKET": DOOR,
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "HOME": HOME,
}


class ClaudeCodeOptions(Value):
    """What an arm may choose."""

    version: ExactVersion = TESTED_VERSION
    """Of Claude Code: a host with another one does not take the cell."""
    model: ModelId
    models: tuple[ModelId, ...] = ()
    """Further models that it may ask, for its sub-agents and side questions; (): all of those go to `model`."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    most_turns: Annotated[int, Field(ge=1)] | None = None
    allowed_tools: tuple[Tool, ...] = ("Agent", "Bash", "Edit", "Read", "Skill", "Write")
    """There is no other, and none of them asks for leave. Those that search the web are no part of the default: the
    provider would do it for them, past the sandbox."""
    denied_tools: tuple[Tool, ...] = ()
    project: bool = True
    """Read what the workspace says to it: CLAUDE.md and `.claude`, its skills among it. No hook is executed then, for
    the workspace's would be."""
    plugins: tuple[Name, ...] = ()
    """Assets of the arm that are plug-ins: folders with a manifest, or with `skills/<name>/SKILL.md` alone. Servers
    that they name are not started."""
    skills: tuple[Name, ...] = ()
    """Assets of the arm that hold skills: `<name>/SKILL.md`. Each is seen as a plug-in of the asset's name."""
    mcp: Annotated[dict[Name, McpServer], Field(max_length=MOST_SERVERS)] = {}
    """Servers of the arm; their tools are allowed as `mcp__<name>__<tool>`. A session ends as `stream_invalid` when one
    of them did not answer within 30 s."""
    sealed_tools: bool = False
    """Run the commands of Bash in the tool room, which has no door: there a `cd` lasts for one command, and /tmp is
    another."""
    required_skill: SkillName | None = None
    """A session that did not use it with success is `skill-not-invoked`."""
    lasting: bool = False
    """Keep the conversation, so that another session can go on with it."""
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    """Of one request; two take about 2 s."""
    env: dict[str, str] = {}

    @model_validator(mode="after")
    def _means_one_thing(self) -> Self:
        ensure_known(self.env, _SETTABLE)
        for model in (self.model, *self.models):
            if _asked(model) in _ALIASES:
                raise ValueError(f"{model!r} is another model in every version; give a full model id")
        if self.required_skill is not None and "Skill" not in _names(self.allowed_tools):
            raise ValueError("required_skill needs the tool 'Skill' among allowed_tools")
        if self.skills and "Skill" not in _names(self.allowed_tools):
            raise ValueError("skills need the tool 'Skill' among allowed_tools")
        twice = set(self.plugins) & set(self.skills)
        if twice:
            raise ValueError(f"{min(twice)!r} is among plugins and among skills; it can be loaded as one of them")
        return self


class ClaudeCodeAgent:
    """Starts Claude Code and reads its stream of JSON events."""

    version = "1"
    wires: tuple[Wire, ...] = (Wire.ANTHROPIC,)

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(ClaudeCodeOptions, options, f"agent {KIND!r}")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json", exclude_none=True)
        self.program: AgentProgram | None = AgentProgram(KIND, self._options.version)
        servers = (server.asset for server in self._options.mcp.values())
        self.assets: tuple[str, ...] = tuple(dict.fromkeys((*self._options.plugins, *self._options.skills, *servers)))

    def launch(self, request: SessionRequest) -> Launch:
        options, instructions = self._options, request.instructions
        return Launch(
            argv=(*_words(options), *_resuming(request), *(() if instructions is None else _instruction_words())),
            env=_env(options),
            stdin=request.prompt.encode(),
            home_files=_home_files(options, instructions),
            runs_tools=options.sealed_tools,
            starts_servers=bool(options.mcp),
            asset_views={f"{_SKILLS}/{name}/skills": name for name in options.skills},
            models=tuple(dict.fromkeys(_asked(model) for model in (options.model, *options.models))),
            carries=() if request.continues is None else (_CONVERSATIONS,),
            counts_on=frozenset({Counted.COST}),
        )

    def parser(self, name: str) -> ClaudeCodeParser:
        options = self._options
        places, servers = _plugin_places(options), tuple(options.mcp)
        return ClaudeCodeParser(name, Expected(options.version, places, servers, options.required_skill))


def _asked(model: ModelId) -> str:
    """Give a model as its requests name it: a mark for its longer context is a header there."""
    return model.removesuffix("[1m]")


def _words(options: ClaudeCodeOptions) -> tuple[str, ...]:
    words = [f"{AGENT}/claude", "-p", "--output-format", "stream-json", "--verbose"]
    words += ["--permission-mode", "dontAsk", "--tools", *(_names(options.allowed_tools) or ("",))]
    allowed = (*options.allowed_tools, *_server_tools(options.mcp))
    if allowed:
        words += ["--allowedTools", *allowed]
    if options.denied_tools:
        words += ["--disallowedTools", *options.denied_tools]
    if options.mcp:
        words += ["--mcp-config", f"{HOME}/{_SERVERS}"]
    words += ["--strict-mcp-config", "--setting-sources", "project" if options.project else ""]
    if options.project:
        words += ["--settings", '{"disableAllHooks":true}']
    for place in _plugin_places(options):
        words += ["--plugin-dir", place]
    words += ["--model", options.model] if options.lasting else ["--no-session-persistence", "--model", options.model]
    if options.effort is not None:
        words += ["--effort", options.effort]
    if options.most_turns is not None:
        words += ["--max-turns", str(options.most_turns)]
    return tuple(words)


def _resuming(request: SessionRequest) -> tuple[str, ...]:
    return () if request.continues is None else (f"--resume={request.continues.session_id or ''}",)


def _instruction_words() -> tuple[str, ...]:
    return ("--append-system-prompt-file", f"{HOME}/{_INSTRUCTIONS}")


def _plugin_places(options: ClaudeCodeOptions) -> tuple[str, ...]:
    skills = (f"{_SKILLS}/{name}" for name in options.skills)
    return (*(asset_path(name) for name in options.plugins), *skills)


def _home_files(options: ClaudeCodeOptions, instructions: str | None) -> dict[str, bytes]:
    files = {} if instructions is None else {_INSTRUCTIONS: instructions.encode()}
    if options.mcp:
        servers = {name: {"command": each.command[0], "args": each.command[1:]} for name, each in options.mcp.items()}
        files[_SERVERS] = json.dumps({"mcpServers": servers}).encode()
    if options.sealed_tools:
        files[_SEAL] = _SEALED.encode()
    return files


def _server_tools(servers: Mapping[str, McpServer]) -> Iterator[str]:
    for name, server in servers.items():
        if server.tools is None:
            yield f"mcp__{name}"
        else:
            yield from (f"mcp__{name}__{tool}" for tool in server.tools)


def _names(tools: tuple[Tool, ...]) -> tuple[str, ...]:
    """Give the tools that the rules are about, each once."""
    return tuple(dict.fromkeys(tool.partition("(")[0] for tool in tools))


def _env(options: ClaudeCodeOptions) -> Mapping[str, str]:
    tiers = {} if options.models else dict.fromkeys(_TIERS, options.model)
    sealed = {"CLAUDE_CODE_SHELL_PREFIX": f"/bin/sh -e {HOME}/{_SEAL}"} if options.sealed_tools else {}
    return {**_ALWAYS, **tiers, **sealed, "CLAUDE_CODE_MAX_RETRIES": str(options.retries), **options.env}
