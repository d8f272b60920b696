"""How Codex is started, so that nothing but its pinned program, its arm and the workspace decide what it does.

Measured with 0.171.0; what looks odd has a reason:

- A provider of our own: the built-in one ignores its key and tries seven WebSockets before its first request.
- Without a network, analytics and plug-ins hold its end for 5 s and look for github.com.
- A refused connection is retried for ever without `--disable unbounded_connection_retries`; retries of a request and
  of its stream multiply.
- Its own sandbox is read-only by default, and what it refuses makes no event: ours is the boundary.
- A workspace is never trusted: its `.codex/config.toml` could name programs to start. AGENTS.md and skills are read.
- It has no turn cap and no lists of tools. Web search is off: the provider would do it, past the sandbox.
- The usage of a thread that is gone on with is that of all its runs. It is found by its id below .codex/sessions.
"""

import json
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from farm.model import Name, Value, Wire
from worker.agents.codex.events import CodexParser
from worker.agents.options import ExactVersion, ModelId, SkillName, ensure_known
from worker.agents.servers import MOST_SERVERS, McpServer
from worker.options import checked
from worker.session import AGENT, DOOR_KEY, DOOR_URL, HOME, AgentProgram, Counted, Launch, SessionRequest, asset_path

KIND = "codex"
TESTED_VERSION = "0.171.0"

_INSTRUCTIONS = ".codex/AGENTS.md"
_SKILLS = ".agents/skills"
_THREADS = ".codex/sessions"
_KEY = "FARM_DOOR_KEY"
_IDLE_MS = 300_000
"""Its own clock for a silent stream; the door's is shorter."""
_START_S = 30
_SETTABLE = frozenset({"RUST_LOG", "TZ"})


class CodexOptions(Value):
    """What an arm may choose."""

    version: ExactVersion = TESTED_VERSION
    """Of Codex: a host with another one does not take the cell."""
    model: ModelId
    models: tuple[ModelId, ...] = ()
    """Further models that it may ask, for its sub-agents."""
    effort: Literal["minimal", "low", "medium", "high", "xhigh"] | None = None
    project: bool = True
    """Read what the workspace says to it: AGENTS.md and its skills; never its configuration."""
    skills: tuple[Name, ...] = ()
    """Assets of the arm that hold skills: `<name>/SKILL.md`."""
    mcp: Annotated[dict[Name, McpServer], Field(max_length=MOST_SERVERS)] = {}
    """Servers of the arm. A session whose servers do not answer within 30 s does not begin."""
    required_skill: SkillName | None = None
    """A session in which no command has read that skill's SKILL.md with success is `skill-not-invoked`."""
    lasting: bool = False
    """Keep the thread, so that another session can go on with it."""
    retries: Annotated[int, Field(ge=0, le=10)] = 1
    """Of one request, and as many of its stream: with one, four requests at most."""
    env: dict[str, str] = {}

    @model_validator(mode="after")
    def _means_one_thing(self) -> Self:
        ensure_known(self.env, _SETTABLE)
        if self.skills and not self.project:
            raise ValueError("skills need project: true; Codex is told of all skills or of none")
        return self


class CodexAgent:
    """Starts Codex and reads its JSON events."""

    version = "1"
    wires: tuple[Wire, ...] = (Wire.RESPONSES,)

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(CodexOptions, options, f"agent {KIND!r}")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json", exclude_none=True)
        self.program: AgentProgram | None = AgentProgram(KIND, self._options.version)
        servers = (server.asset for server in self._options.mcp.values())
        self.assets: tuple[str, ...] = tuple(dict.fromkeys((*self._options.skills, *servers)))

    def launch(self, request: SessionRequest) -> Launch:
        options, instructions = self._options, request.instructions
        return Launch(
            argv=(
                *(f"{AGENT}/bin/codex", "exec", "--json", "--skip-git-repo-check"),
                *(() if options.lasting else ("--ephemeral",)),
                *("--dangerously-bypass-approvals-and-sandbox", "-m", options.model),
                *("--disable", "plugins", "--disable", "shell_snapshot", "--disable", "unbounded_connection_retries"),
                *(word for setting in _settings(options) for word in ("-c", setting)),
                *_resuming(request),
                "-",
            ),
            env={"HOME": HOME, _KEY: DOOR_KEY, **options.env},
            stdin=request.prompt.encode(),
            home_files={} if instructions is None else {_INSTRUCTIONS: instructions.encode()},
            home_links={f"{_SKILLS}/{name}": asset_path(name) for name in options.skills},
            starts_servers=bool(options.mcp),
            models=(options.model, *options.models),
            carries=() if request.continues is None else (_THREADS,),
            counts_on=frozenset({Counted.USAGE}),
        )

    def parser(self, name: str) -> CodexParser:
        return CodexParser(name, self._options.required_skill)


def _resuming(request: SessionRequest) -> tuple[str, ...]:
    return () if request.continues is None else ("resume", "--", request.continues.session_id or "")


def _settings(options: CodexOptions) -> Iterator[str]:
    yield "analytics.enabled=false"
    yield "check_for_update_on_startup=false"
    yield 'web_search="disabled"'
    yield 'model_provider="farm"'
    yield (
        f'model_providers.farm={{name="farm",base_url="{DOOR_URL}/v1",wire_api="responses",env_key="{_KEY}",'
        f"request_max_retries={options.retries},stream_max_retries={options.retries},"
        f"stream_idle_timeout_ms={_IDLE_MS}}}"
    )
    if options.effort is not None:
        yield f'model_reasoning_effort="{options.effort}"'
    if not options.project:
        yield "project_doc_max_bytes=0"
        yield "skills.include_instructions=false"
    for name, server in options.mcp.items():
        yield f"mcp_servers.{name}={_server(server)}"


def _server(server: McpServer) -> str:
    """Write a server in TOML, whose strings and lists of them are JSON's."""
    program, *arguments = server.command
    fields = [f"command={json.dumps(program)}", f"args={json.dumps(arguments, ensure_ascii=False)}", "required=true"]
    fields.append(f"startup_timeout_sec={_START_S}")
    if server.tools is not None:
        fields.append(f"enabled_tools={json.dumps(server.tools)}")
    return f"{{{','.join(fields)}}}"
