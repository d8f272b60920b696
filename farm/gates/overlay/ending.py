"""The contract's words for how a sample ended, and what our words for a session's ending are among them."""

from enum import StrEnum
from typing import assert_never

from farm.model import ExitReason


class SampleEnd(StrEnum):
    """The contract's words, and two for what it does not record; any other word is an agent's, or names a limit."""

    SUCCESS = "success"
    TIMEOUT = "timeout"
    """The sweep's deadline, and nothing else."""
    STOPPED = "stopped"
    """A stop order other than the deadline."""
    RATE_LIMIT_EXHAUSTED = "rate_limit_exhausted"
    VALIDATION_FAILED = "validation_failed"
    """The run came to its end, and what it left is no valid measurement."""
    HARNESS_ERROR = "harness_error"
    """The run came to no end of its own: no terminal event, a crash, a host lost."""
    NEVER_STARTED = "never_started"


def session_end(reason: str) -> SampleEnd | str:
    """Say a session's ending in the contract's words.

    What is no SampleEnd is a native ending other than success: the agent's own word, or the limit that the session
    reached. The task's limits are to a session what a turn cap is, its wall limit too: only the sweep has a deadline.
    """
    try:
        ours = ExitReason(reason)
    except ValueError:
        return reason
    match ours:
        case ExitReason.SUCCESS:
            return SampleEnd.SUCCESS
        case ExitReason.STOPPED:
            return SampleEnd.STOPPED
        case ExitReason.WALL_LIMIT | ExitReason.OUTPUT_LIMIT | ExitReason.LIMIT | ExitReason.BUDGET_LIMIT:
            return str(ours)
        case ExitReason.CRASHED | ExitReason.STREAM_INVALID | ExitReason.NO_TERMINAL:
            return SampleEnd.HARNESS_ERROR
        case (
            ExitReason.TWO_TERMINALS
            | ExitReason.ERROR_FLAG
            | ExitReason.BLANK_ANSWER
            | ExitReason.SKILL_NOT_INVOKED
            | ExitReason.SKILL_UNVERIFIED
        ):
            return SampleEnd.VALIDATION_FAILED
        case _:
            assert_never(ours)
