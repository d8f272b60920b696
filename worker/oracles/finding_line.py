"""The line in which a check says what it found: one line of standard output, told by the nonce that it was given.

    FARM-FINDING <nonce> {"correct": true, "numbers": {"behaviours": 3}, "error": "…", "problem": "…"}

What it says in `error` and `problem`, and numbers that no metric names, are kept only with `keep_output`: where a
candidate's code runs in the check's own process, it can write the hidden files' bytes there.

`correct: null` with a `problem` says that the check could not be completed. No such line, two of them, a malformed
one, a signal or a limit is a wrong answer: an agent that breaks or hangs its own tests has answered wrongly.
"""

from typing import Annotated

from pydantic import Field, ValidationError

from farm.model import ExitKind, OracleFinding, ProcessExit, Value
from farm.model.metric import Number
from worker.documents import DocumentError, one_document
from worker.session import CheckResult, OracleRequest

_MARK = b"FARM-FINDING"
_MOST_ERROR = 2000
UNSAID = "the check has said why, which is not kept; `keep_output: true` in its oracle keeps it"


class _Report(Value):
    """What stands behind the mark."""

    correct: Annotated[bool, Field(strict=True)] | None
    numbers: Annotated[dict[Annotated[str, Field(max_length=64)], Number], Field(max_length=100)] = {}
    error: Annotated[str, Field(max_length=_MOST_ERROR)] | None = None
    problem: Annotated[str, Field(max_length=_MOST_ERROR)] | None = None


def reported(result: CheckResult, request: OracleRequest, own: frozenset[str] = frozenset()) -> OracleFinding:
    """Read the check's own finding; the numbers called `own` are the oracle's, which no candidate can name."""
    exit_ = result.exit
    if exit_.kind is not ExitKind.EXITED:
        return OracleFinding(correct=False, answer_error=ending(exit_), exit=exit_)
    lines = [line for line in result.stdout.splitlines() if line.split(b" ", 1)[0] == _MARK]
    prefix = _MARK + b" " + request.nonce.encode() + b" "
    if len(lines) != 1 or not lines[0].startswith(prefix):
        wrong = f"the check wrote {len(lines)} finding lines, not one with its own nonce (exit code {exit_.code})"
        return OracleFinding(correct=False, answer_error=wrong, exit=exit_)
    is_kept = request.task.oracle.keep_output
    try:
        report = _Report.model_validate(one_document(lines[0][len(prefix) :]))
    except (DocumentError, ValidationError) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        wrong = f"the finding is malformed: {first}" if is_kept else "the finding is malformed"
        return OracleFinding(correct=False, answer_error=wrong, exit=exit_)
    problem = report.problem if is_kept else _hushed(report.problem)
    if report.correct is None and problem is None:
        problem = "the check could not be completed and does not say why"
    return OracleFinding(
        correct=report.correct,
        answer_error=report.error if is_kept else _hushed(report.error),
        problem=problem,
        numbers={name: one for name, one in report.numbers.items() if is_kept or name in own | request.numbers},
        exit=exit_,
    )


def _hushed(text: str | None) -> str | None:
    return None if text is None else UNSAID


def ending(exit_: ProcessExit) -> str | None:
    """Say what is wrong with how a check ended; None for code 0."""
    match exit_.kind:
        case ExitKind.EXITED:
            return None if exit_.code == 0 else f"the check exited with code {exit_.code}"
        case ExitKind.SIGNALED:
            return f"the check was killed by signal {exit_.signal}"
        case ExitKind.LIMIT:
            return f"the check reached its {exit_.limit} limit after {exit_.wall_s:.1f} s"
        case ExitKind.STOPPED:
            return "the check was stopped"
