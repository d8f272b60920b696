"""How aider is started, so that nothing but its pinned program, its arm and the workspace decide what it does.

Measured with 0.86.2; what looks odd has a reason:

- The prompt goes by a file: an argument holds 128 KiB at most.
- It does not stream: when it does, it asks for no usage, and there is none for the door to meter.
- It breaks lines at the terminal's width, those that tell its end and those of the answer among them: so it is wide.
- Python runs isolated: else a module of the workspace could stand in for one of its own.
- Without leave to use git it commits nothing, and makes no repository where there is none.
- A provider that turns it away it asks nine times, which takes a minute and can't be changed; the retries that its
  client would do for each of them are off.
- A workspace's `.aider.conf.yml` is read; what stands on the command line wins over it.
"""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from farm.model import Value, Wire
from worker.agents.aider.output import AiderParser
from worker.agents.options import ExactVersion, ModelId
from worker.options import checked
from worker.session import AGENT, DOOR_KEY, DOOR_URL, HOME, AgentProgram, Launch, SessionRequest

KIND = "aider"
TESTED_VERSION = "0.86.2"

_MODELS = ".farm/models.yml"
_EVERY_MODEL = b'[{"name": "aider/extra_params", "extra_params": {"max_retries": 0}}]'
"""Its own word for what is added to the requests of all models."""
_PROMPT = ".farm/prompt.md"
_INSTRUCTIONS = ".farm/instructions.md"
_QUIET = (
    *("--yes-always", "--no-check-update", "--analytics-disable", "--no-show-model-warnings", "--no-pretty"),
    *("--no-fancy-input", "--no-auto-commits", "--no-dirty-commits", "--no-gitignore", "--no-show-release-notes"),
    *("--no-detect-urls", "--no-suggest-shell-commands", "--no-stream"),
    *("--model-settings-file", f"{HOME}/{_MODELS}"),
    *("--chat-history-file", f"{HOME}/.farm/chat.md", "--input-history-file", f"{HOME}/.farm/input"),
)
_ENV = {
    "ANTHROPIC_API_BASE": DOOR_URL,
    "ANTHROPIC_API_KEY": DOOR_KEY,
    "COLUMNS": "100000",
    "HOME": HOME,
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_API_BASE": f"{DOOR_URL}/v1",
    "OPENAI_API_KEY": DOOR_KEY,
}


class AiderOptions(Value):
    """What an arm may choose."""

    version: ExactVersion = TESTED_VERSION
    """Of aider: a host with another one does not take the cell."""
    model: ModelId
    edit_format: Literal["diff", "diff-fenced", "patch", "udiff", "whole"] | None = None
    """How the model is to spell its edits; None: as aider thinks best for it."""
    git: bool = False
    """Look at the workspace's repository, and map it within `map_tokens`."""
    map_tokens: Annotated[int, Field(ge=0)] = 0


class AiderAgent:
    """Starts aider and reads what it prints."""

    version = "1"
    wires: tuple[Wire, ...] = (Wire.CHAT, Wire.ANTHROPIC)
    assets: tuple[str, ...] = ()

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(AiderOptions, options, f"agent {KIND!r}")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json", exclude_none=True)
        self.program: AgentProgram | None = AgentProgram(KIND, self._options.version)

    def launch(self, request: SessionRequest) -> Launch:
        options, instructions = self._options, request.instructions
        provider = "anthropic" if request.wire is Wire.ANTHROPIC else "openai"
        words = [f"{AGENT}/bin/python", "-I", "-m", "aider", "--model", f"{provider}/{options.model}", *_QUIET]
        words += ["--weak-model", f"{provider}/{options.model}", "--map-tokens", str(options.map_tokens)]
        if options.edit_format is not None:
            words += ["--edit-format", options.edit_format]
        if not options.git:
            words.append("--no-git")
        if instructions is not None:
            words += ["--read", f"{HOME}/{_INSTRUCTIONS}"]
        return Launch(
            argv=(*words, "--message-file", f"{HOME}/{_PROMPT}"),
            env=_ENV,
            home_files={
                _MODELS: _EVERY_MODEL,
                _PROMPT: request.prompt.encode(),
                **({} if instructions is None else {_INSTRUCTIONS: instructions.encode()}),
            },
            models=(options.model,),
        )

    def parser(self, name: str) -> AiderParser:
        return AiderParser(name)
