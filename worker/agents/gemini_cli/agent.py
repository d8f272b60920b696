"""How Gemini CLI is started, so that nothing but its pinned program, its arm and the workspace decide what it does.

Measured with 0.61.0; what looks odd has a reason:

- The prompt goes by standard input and instructions by a file of its user's: an argument holds 128 KiB at most.
- Without a file of settings it takes no key. They are its user's: those of the system it reads only where they are
  root's, whom a sandbox does not hold. So a workspace's own `.gemini/settings.json` wins over them.
- It takes no servers from an arm: the workspace's settings could put others in their place.
- It starts itself a second time unless told not to: that one outlives the first.
- Retries of a connection that was refused are off: they have no end.
"""

import json
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from farm.model import Name, Value, Wire
from worker.agents.gemini_cli.events import GeminiCliParser
from worker.agents.options import ExactVersion, ModelId, SkillName, ensure_known
from worker.options import checked
from worker.session import AGENT, DOOR_KEY, DOOR_URL, HOME, AgentProgram, Launch, SessionRequest, asset_path

KIND = "gemini-cli"
TESTED_VERSION = "0.61.0"

_INSTRUCTIONS = ".gemini/GEMINI.md"
_SETTINGS = ".gemini/settings.json"
_SKILLS = ".gemini/skills"
_SETTABLE = frozenset({"TZ"})
_ALWAYS = {
    "GEMINI_API_KEY": DOOR_KEY,
    "GEMINI_CLI_NO_RELAUNCH": "true",
    "GOOGLE_GEMINI_BASE_URL": DOOR_URL,
    "HOME": HOME,
}

Tool = Annotated[str, Field(pattern=r"^[a-z][a-z_]{0,99}$")]


class GeminiCliOptions(Value):
    """What an arm may choose."""

    version: ExactVersion = TESTED_VERSION
    """Of Gemini CLI: a host with another one does not take the cell."""
    model: ModelId
    models: tuple[ModelId, ...] = ()
    """Further models that it may ask, for its sub-agents and side questions."""
    most_turns: Annotated[int, Field(ge=1)] | None = None
    denied_tools: tuple[Tool, ...] = ("google_web_search", "web_fetch")
    """Those that search the web are among them by default: the provider would do it, past the sandbox."""
    skills: Annotated[tuple[Name, ...], Field(max_length=1)] = ()
    """The asset of the arm that holds skills: `<name>/SKILL.md`. One of the workspace with the same name wins."""
    required_skill: SkillName | None = None
    """A session that did not use it with success is `skill-not-invoked`."""
    retries: Annotated[int, Field(ge=0, le=9)] = 1
    """Of one request."""
    env: dict[str, str] = {}

    @model_validator(mode="after")
    def _env_is_known(self) -> Self:
        ensure_known(self.env, _SETTABLE)
        return self


class GeminiCliAgent:
    """Starts Gemini CLI and reads its stream of JSON events."""

    version = "1"
    wires: tuple[Wire, ...] = (Wire.GEMINI,)

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(GeminiCliOptions, options, f"agent {KIND!r}")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json", exclude_none=True)
        self.program: AgentProgram | None = AgentProgram(KIND, self._options.version)
        self.assets: tuple[str, ...] = self._options.skills

    def launch(self, request: SessionRequest) -> Launch:
        options, instructions = self._options, request.instructions
        return Launch(
            argv=(
                *(f"{AGENT}/bin/gemini", "--output-format", "stream-json", "--skip-trust"),
                *("--approval-mode", "yolo", "-m", options.model),
            ),
            env={**_ALWAYS, **options.env},
            stdin=request.prompt.encode(),
            home_files={
                _SETTINGS: json.dumps(_settings(options)).encode(),
                **({} if instructions is None else {_INSTRUCTIONS: instructions.encode()}),
            },
            home_links={_SKILLS: asset_path(options.skills[0])} if options.skills else {},
            models=(options.model, *options.models),
        )

    def parser(self, name: str) -> GeminiCliParser:
        return GeminiCliParser(name, self._options.required_skill)


def _settings(options: GeminiCliOptions) -> JsonValue:
    return {
        "general": {"enableAutoUpdate": False, "maxAttempts": options.retries + 1, "retryFetchErrors": False},
        "hooksConfig": {"enabled": False},
        "model": {"maxSessionTurns": options.most_turns or -1},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "tools": {"exclude": list(options.denied_tools)},
    }
