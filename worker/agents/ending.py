"""How a session ended, in one word and one sentence, from its exit and from what its stream said."""

from dataclasses import dataclass
from typing import assert_never

from farm.model import ExitKind, ExitReason, ProcessExit
from worker.agents.skill import SkillUse

_OURS = frozenset(ExitReason)


@dataclass(frozen=True, slots=True)
class Heard:
    """What a parser made of the stream; `terminals` counts the events that end a session."""

    terminals: int
    answer: str | None
    stream_problem: str | None = None
    native_reason: str | None = None
    has_error_flag: bool = False
    denied: str | None = None
    """The tools whose use was denied in a session that the agent itself takes for a success."""
    detail: str | None = None
    """What the agent said last of what went wrong, in one line."""
    skill: SkillUse | None = None
    """What is known of the skill that the session had to use; None: none was asked for."""

    @property
    def is_whole(self) -> bool:
        """Say whether the session was heard from its start to its one end: only then are its numbers totals."""
        return self.terminals == 1 and self.stream_problem is None


@dataclass(frozen=True, slots=True)
class Ending:
    """The reason, and what is wrong with it; no problem: a clean success."""

    reason: str
    problem: str | None


def ending(exit_: ProcessExit, heard: Heard, success_code: int = 0) -> Ending:
    """Judge: what the sandbox saw goes before what the stream says, and a fault in the stream before its content."""
    return (
        _by_exit(exit_)
        or _by_stream(exit_, heard, success_code)
        or _by_terminal(exit_, heard, success_code)
        or _by_content(heard)
    )


def _by_exit(exit_: ProcessExit) -> Ending | None:
    match exit_.kind:
        case ExitKind.EXITED:
            return None
        case ExitKind.STOPPED:
            return Ending(ExitReason.STOPPED, "the session was stopped before its end")
        case ExitKind.SIGNALED:
            return Ending(ExitReason.CRASHED, f"the agent was killed by signal {exit_.signal}")
        case ExitKind.LIMIT:
            reasons = {"wall": ExitReason.WALL_LIMIT, "output": ExitReason.OUTPUT_LIMIT}
            reason = reasons.get(exit_.limit or "", ExitReason.LIMIT)
            return Ending(reason, f"the session reached its {exit_.limit} limit after {exit_.wall_s:.1f} s")
        case _:
            assert_never(exit_.kind)


def _by_stream(exit_: ProcessExit, heard: Heard, success_code: int) -> Ending | None:
    if heard.stream_problem is not None:
        return Ending(ExitReason.STREAM_INVALID, heard.stream_problem)
    if heard.terminals == 0:
        if exit_.code != success_code:
            crash = f"the agent exited with code {exit_.code} and without a terminal event"
            return Ending(ExitReason.CRASHED, _with(crash, heard.detail))
        return Ending(ExitReason.NO_TERMINAL, "the stream ended without a terminal event")
    if heard.terminals > 1:
        return Ending(ExitReason.TWO_TERMINALS, f"the stream holds {heard.terminals} terminal events, not one")
    return None


def _by_terminal(exit_: ProcessExit, heard: Heard, success_code: int) -> Ending | None:
    native = heard.native_reason or ExitReason.SUCCESS
    if native != ExitReason.SUCCESS:
        reason = f"agent_{native}" if native in _OURS else native
        return Ending(reason, _with(f"the agent says that it failed: {native}", heard.detail))
    if heard.has_error_flag:
        return Ending(ExitReason.ERROR_FLAG, _with("the agent says that it failed, and not how", heard.detail))
    if exit_.code != success_code:
        return Ending(ExitReason.CRASHED, f"the agent exited with code {exit_.code} after its terminal event")
    return None


def _by_content(heard: Heard) -> Ending:
    if heard.answer is None or not heard.answer.strip():
        return Ending(ExitReason.BLANK_ANSWER, "the final answer is missing or blank")
    if heard.denied is not None:
        return Ending("permission_denied", f"the agent wanted tools that it was denied: {heard.denied}")
    match heard.skill:
        case None | SkillUse.SUCCEEDED:
            return Ending(ExitReason.SUCCESS, None)
        case SkillUse.NOT_INVOKED:
            return Ending(ExitReason.SKILL_NOT_INVOKED, "the skill that the arm requires was not used with success")
        case SkillUse.UNVERIFIED:
            return Ending(ExitReason.SKILL_UNVERIFIED, "the stream does not tell whether the required skill was used")
        case _:
            assert_never(heard.skill)


def _with(sentence: str, detail: str | None) -> str:
    return sentence if detail is None else f"{sentence}: {detail}"
