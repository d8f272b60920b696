"""The oracle `command`: a program from the hidden files, run in a sandbox of its own once every session is dead.

It runs in the workspace, with FARM_HIDDEN (also `{hidden}` in argv) naming the hidden files and FARM_NONCE a random
word that nobody else was told. With `reads: exit`, code 0 is right and any other end is wrong. With `reads: report`
it says so itself, as `finding_line` describes.
"""

import posixpath
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from farm.model import OracleFinding, Value
from worker.options import checked
from worker.oracles.finding_line import ending, reported
from worker.session import OracleRequest

_HIDDEN = "{hidden}/"


class CommandOptions(Value):
    """What to run and how to read it."""

    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    reads: Literal["exit", "report"] = "exit"


class CommandOracle:
    """Runs the hidden check and reads its exit or its report."""

    version = "1"

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(CommandOptions, options, "oracle 'command'")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json")
        program = self._options.argv[0]
        self.executes = (posixpath.normpath(program.removeprefix(_HIDDEN)),) if program.startswith(_HIDDEN) else ()

    def find(self, request: OracleRequest) -> OracleFinding:
        hidden = request.hidden or ""
        argv = tuple(word.replace("{hidden}", hidden) for word in self._options.argv)
        env = {"FARM_NONCE": request.nonce}
        if request.hidden is not None:
            env["FARM_HIDDEN"] = request.hidden
        result = request.check(argv, env)
        if self._options.reads == "report":
            return reported(result, request)
        return OracleFinding(correct=result.exit.is_zero, answer_error=ending(result.exit), exit=result.exit)
