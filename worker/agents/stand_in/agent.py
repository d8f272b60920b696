"""How the stand-in is started: Python of the host's /usr, and a program of ours that is laid into its home.

It asks a model by Anthropic Messages, writes files, runs commands and reads skills for real, and says what it did in
the words of Claude Code's stream, which is read by the same rules. Its commands run in the tool room: they have no
door. It is no product: it shows that a sweep works, where no other agent can be installed.
"""

from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from farm.model import Value, Wire
from sandbox.spec import TOOL
from worker.agents.claude_code.events import ClaudeCodeParser, Expected
from worker.agents.options import ModelId, SkillName
from worker.options import checked
from worker.session import DOOR_PORT, HOME, AgentProgram, Launch, SessionRequest

KIND = "stand-in"
_PROGRAM = ".farm/stand_in.py"
_INSTRUCTIONS = ".farm/instructions.md"
_CONVERSATION = ".conversation/messages.json"
_STREAM_VERSION = "1"
"""What its own stream says of its version."""


class StandInOptions(Value):
    """What an arm may choose."""

    model: ModelId
    most_turns: Annotated[int, Field(ge=1, le=1000)] = 50
    denied_tools: tuple[Literal["Bash", "Skill", "Write"], ...] = ()
    required_skill: SkillName | None = None
    """A session that did not use it with success is `skill-not-invoked`."""
    lasting: bool = False
    """Keep the conversation, so that another session can go on with it."""


class StandInAgent:
    """Starts the stand-in and reads its stream of JSON events."""

    version = "1"
    wires: tuple[Wire, ...] = (Wire.ANTHROPIC,)
    program: AgentProgram | None = None
    assets: tuple[str, ...] = ()

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(StandInOptions, options, f"agent {KIND!r}")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json", exclude_none=True)

    def launch(self, request: SessionRequest) -> Launch:
        options, instructions = self._options, request.instructions
        words = ["--model", options.model, "--most-turns", str(options.most_turns)]
        words += ["--port", str(DOOR_PORT), "--tool", TOOL, "--version", _STREAM_VERSION]
        words += [word for tool in options.denied_tools for word in ("--deny", tool)]
        if options.lasting:
            words += ["--conversation", f"{HOME}/{_CONVERSATION}"]
        home = {_PROGRAM: _source()}
        if instructions is not None:
            home[_INSTRUCTIONS] = instructions.encode()
            words += ["--instructions", f"{HOME}/{_INSTRUCTIONS}"]
        return Launch(
            argv=("python3", "-I", "-S", f"{HOME}/{_PROGRAM}", *words),
            env={"HOME": HOME},
            stdin=request.prompt.encode(),
            home_files=home,
            runs_tools=True,
            models=(options.model,),
            carries=() if request.continues is None else (_CONVERSATION,),
        )

    def parser(self, name: str) -> ClaudeCodeParser:
        return ClaudeCodeParser(name, Expected(_STREAM_VERSION, required_skill=self._options.required_skill))


@cache
def _source() -> bytes:
    return files("worker.agents.stand_in").joinpath("program.py").read_bytes()
