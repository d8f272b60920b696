"""How mini-swe-agent is started, so that nothing but its pinned program, its arm and the workspace decide what it does.

Measured with 2.4.6; what looks odd has a reason:

- All that it is told stands in one file of settings: an argument holds 128 KiB at most, and instructions are a template
  there, in which nothing of theirs may be one.
- Its standard output is for people. What it says goes to standard error; its trajectory, a file, goes to standard
  output when it ends.
- Python runs isolated: else a module of the workspace could stand in for one of its own.
- Its own limit of cost is off, for it knows few prices: a cell's budget is the door's.
- It is told to end by a command that prints nothing else, so an empty submission is a success too.
"""

import json
import re
from typing import Annotated

from pydantic import Field, JsonValue

from farm.model import Value, Wire
from worker.agents.mini_swe_agent.trajectory import MiniSweParser
from worker.agents.options import ExactVersion, ModelId
from worker.options import checked
from worker.session import AGENT, DOOR_KEY, DOOR_URL, HOME, AgentProgram, Launch, SessionRequest

KIND = "mini-swe-agent"
TESTED_VERSION = "2.4.6"

_SETTINGS = ".farm/settings.yaml"
_TRAJECTORY = f"{HOME}/.farm/trajectory.json"
_SYSTEM = "You are a helpful assistant that can interact with a computer."
"""What it says of itself by default; instructions follow."""
_REQUEST_S = 300
_START = f"""
import os, sys
out = os.dup(1)
os.dup2(2, 1)
from minisweagent.run.mini import app
try:
    app()
finally:
    if os.path.exists({_TRAJECTORY!r}):
        with open({_TRAJECTORY!r}, "rb") as said, open(out, "wb") as told:
            told.write(said.read())
"""
_ENV = {
    "ANTHROPIC_API_BASE": DOOR_URL,
    "ANTHROPIC_API_KEY": DOOR_KEY,
    "HOME": HOME,
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MSWEA_CONFIGURED": "true",
    "MSWEA_GLOBAL_CONFIG_DIR": f"{HOME}/.farm",
    "MSWEA_SILENT_STARTUP": "1",
    "OPENAI_API_BASE": f"{DOOR_URL}/v1",
    "OPENAI_API_KEY": DOOR_KEY,
}


class MiniSweOptions(Value):
    """What an arm may choose."""

    version: ExactVersion = TESTED_VERSION
    """Of mini-swe-agent: a host with another one does not take the cell."""
    model: ModelId
    most_turns: Annotated[int, Field(ge=1)] | None = None
    command_s: Annotated[int, Field(ge=1, le=86_400)] = 30
    """The most that one command may take."""
    retries: Annotated[int, Field(ge=0, le=10)] = 1
    """Of one request; the first comes after 4 s."""


class MiniSweAgent:
    """Starts mini-swe-agent and reads its trajectory."""

    version = "1"
    wires: tuple[Wire, ...] = (Wire.CHAT, Wire.ANTHROPIC)
    assets: tuple[str, ...] = ()

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(MiniSweOptions, options, f"agent {KIND!r}")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json", exclude_none=True)
        self.program: AgentProgram | None = AgentProgram(KIND, self._options.version)

    def launch(self, request: SessionRequest) -> Launch:
        settings = _settings(self._options, request)
        return Launch(
            argv=(
                *(f"{AGENT}/bin/python", "-I", "-c", _START),
                *("-c", "mini.yaml", "-c", f"{HOME}/{_SETTINGS}", "-o", _TRAJECTORY),
            ),
            env={**_ENV, "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": str(self._options.retries + 1)},
            home_files={_SETTINGS: _yaml(settings)},
            models=(self._options.model,),
        )

    def parser(self, name: str) -> MiniSweParser:
        return MiniSweParser(name)


def _settings(options: MiniSweOptions, request: SessionRequest) -> JsonValue:
    agent: dict[str, JsonValue] = {
        "mode": "yolo",
        "confirm_exit": False,
        "cost_limit": 0,
        "step_limit": options.most_turns or 0,
    }
    if request.instructions is not None:
        agent["system_template"] = f"{_SYSTEM}\n\n{_untemplated(request.instructions)}"
    provider = "anthropic" if request.wire is Wire.ANTHROPIC else "openai"
    return {
        "run": {"task": request.prompt},
        "agent": agent,
        "environment": {"timeout": options.command_s},
        "model": {
            "model_name": f"{provider}/{options.model}",
            "cost_tracking": "ignore_errors",
            "model_kwargs": {"max_retries": 0, "timeout": _REQUEST_S},
        },
    }


def _untemplated(text: str) -> str:
    """Spell text so that Jinja gives it back: nothing begins without a brace."""
    return text.replace("{", "{{ '{' }}")


def _yaml(settings: JsonValue) -> bytes:
    """Spell JSON so that YAML reads the same: its escapes know no surrogates, and some characters it refuses."""
    text = json.dumps(settings, ensure_ascii=False)
    return re.sub(r"[^\x20-\x7e]", lambda found: f"\\U{ord(found[0]):08x}", text).encode()
