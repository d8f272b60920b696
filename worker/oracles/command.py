r"""The oracle `command`: a program from the hidden files, run in a sandbox of its own once every session is dead.

It runs in the workspace, with FARM_HIDDEN (also `{hidden}` in argv) naming the hidden files and FARM_NONCE a random
word that nobody else was told. With `reads: exit`, code 0 is right and any other end is wrong. With `reads: report`
it says so itself, in one line of standard output:

    FARM-FINDING <nonce> {"correct": true, "numbers": {"behaviours": 3}, "error": "…", "problem": "…"}

`correct: null` with a `problem` says that the check could not be completed. No such line, two of them, a malformed
one, a signal or a limit is a wrong answer: an agent that breaks or hangs its own tests has answered wrongly.
"""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, ValidationError

from farm.errors import SpecError
from farm.model import ExitKind, OracleFinding, ProcessExit, Value
from farm.model.metric import Number
from worker.documents import DocumentError, one_document
from worker.session import CheckResult, OracleRequest

_MARK = b"FARM-FINDING"
_MOST_ERROR = 2000


class CommandOptions(Value):
    """What to run and how to read it."""

    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    reads: Literal["exit", "report"] = "exit"


class _Report(Value):
    """What stands behind the mark."""

    correct: Annotated[bool, Field(strict=True)] | None
    numbers: Annotated[dict[Annotated[str, Field(max_length=64)], Number], Field(max_length=100)] = {}
    error: Annotated[str, Field(max_length=_MOST_ERROR)] | None = None
    problem: Annotated[str, Field(max_length=_MOST_ERROR)] | None = None


class CommandOracle:
    """Runs the hidden check and reads its exit or its report."""

    version = "1"

    def __init__(self, options: dict[str, JsonValue]) -> None:
        try:
            self._options = CommandOptions.model_validate(options)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "options"
            raise SpecError(f"the oracle 'command', {place}: {first['msg']}") from error
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json")

    def find(self, request: OracleRequest) -> OracleFinding:
        hidden = request.hidden or ""
        argv = tuple(word.replace("{hidden}", hidden) for word in self._options.argv)
        env = {"FARM_NONCE": request.nonce}
        if request.hidden is not None:
            env["FARM_HIDDEN"] = request.hidden
        result = request.check(argv, env)
        for role, body in (("oracle.stdout", result.stdout), ("oracle.stderr", result.stderr)):
            if body:
                request.keep(role, "text/plain", body)
        if self._options.reads == "report":
            return _reported(result, request.nonce)
        return OracleFinding(correct=result.exit.is_zero, answer_error=_ending(result.exit), exit=result.exit)


def _reported(result: CheckResult, nonce: str) -> OracleFinding:
    exit_ = result.exit
    if exit_.kind is not ExitKind.EXITED:
        return OracleFinding(correct=False, answer_error=_ending(exit_), exit=exit_)
    lines = [line for line in result.stdout.splitlines() if line.split(b" ", 1)[0] == _MARK]
    prefix = _MARK + b" " + nonce.encode() + b" "
    if len(lines) != 1 or not lines[0].startswith(prefix):
        wrong = f"the check wrote {len(lines)} finding lines, not one with its own nonce (exit code {exit_.code})"
        return OracleFinding(correct=False, answer_error=wrong, exit=exit_)
    try:
        report = _Report.model_validate(one_document(lines[0][len(prefix) :]))
    except (DocumentError, ValidationError) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        return OracleFinding(correct=False, answer_error=f"the finding is malformed: {first}", exit=exit_)
    problem = report.problem
    if report.correct is None and problem is None:
        problem = "the check could not be completed and does not say why"
    return OracleFinding(
        correct=report.correct, answer_error=report.error, problem=problem, numbers=report.numbers, exit=exit_
    )


def _ending(exit_: ProcessExit) -> str | None:
    match exit_.kind:
        case ExitKind.EXITED:
            return None if exit_.code == 0 else f"the check exited with code {exit_.code}"
        case ExitKind.SIGNALED:
            return f"the check was killed by signal {exit_.signal}"
        case ExitKind.LIMIT:
            return f"the check reached its {exit_.limit} limit after {exit_.wall_s:.1f} s"
        case ExitKind.STOPPED:
            return "the check was stopped"
