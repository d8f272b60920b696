"""What a session is told of its run's frame: what it may do about its task, and how it says what came of it."""

from farm.model import NO_SUCCESS_LINE, SUCCESS_LINE, ActionClass, Governed, SessionReport, claims_success

_FRAME = (
    "This is one isolated run of a benchmark. Its workspace is the folder that you are in, and nobody is there to ask."
)
_RULES = {
    ActionClass.READ_ONLY: "Change nothing: the task is to be answered by looking.",
    ActionClass.REVERSIBLE: "Change only this workspace; what goes wrong there may be repaired and tried again.",
    ActionClass.EXTERNAL: (
        "What the task asks for may reach beyond this workspace, or not bear being done twice: do not try it again. "
        "Look at what can be seen, or say that it can't be shown."
    ),
}
_ENDING = (
    "End your answer with exactly one of these two lines, as its last line and with nothing behind it:\n"
    f"{SUCCESS_LINE}\n{NO_SUCCESS_LINE}\n"
    "The first says that the task is done, and the second that it is not, or that nobody can show it."
)


def framed(prompt: str, action: ActionClass | None, *sentences: str) -> str:
    """Put the frame around a task's prompt, with what else is to be told before the ending."""
    rule = () if action is None else (_RULES[action],)
    return "\n\n".join((_FRAME, *rule, prompt, *sentences, _ENDING))


def concluded(report: SessionReport) -> Governed:
    """Say what a run claims whose last session this is."""
    return Governed(claims_success=claims_success(report.final_answer or ""))
