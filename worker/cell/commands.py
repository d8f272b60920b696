"""Commands that a task brings: how one failed, in words, and what is kept of it."""

from typing import assert_never

from farm.model import ExitKind, ProcessExit
from farm.redaction import last_words
from sandbox.spec import Stream
from worker.collect.keeper import Keeper
from worker.session import CheckResult

_MOST_TAIL = 600


def keep_output(keeper: Keeper, role: str, result: CheckResult) -> None:
    """Keep what a command said."""
    for stream, body in ((Stream.STDOUT, result.stdout), (Stream.STDERR, result.stderr)):
        if body:
            keeper.keep(f"{role}.{stream}", "text/plain", body, truncated=stream in result.cut)


def failure(result: CheckResult) -> str | None:
    """Say how a command ended, with its last words; None when all went well."""
    if result.exit.is_zero:
        return None
    said = (result.stderr.strip() or result.stdout.strip()).decode("utf-8", "backslashreplace")
    tail = f": {last_words(' '.join(said.split()), _MOST_TAIL)}" if said else " and said nothing"
    return f"{_ending(result.exit)}{tail}"


def _ending(end: ProcessExit) -> str:
    match end.kind:
        case ExitKind.EXITED:
            return f"ended with code {end.code}"
        case ExitKind.SIGNALED:
            return f"was ended by signal {end.signal}"
        case ExitKind.LIMIT:
            return f"reached its limit of {end.limit}"
        case ExitKind.STOPPED:
            return "was stopped"
        case _:
            assert_never(end.kind)
