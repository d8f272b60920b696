"""One session that says, in the last line of its answer, whether the task is done; nobody governs it."""

from pydantic import JsonValue

from farm.errors import SpecError
from farm.model import SessionReport
from worker.programs.outcome import concluded, framed
from worker.session import Sessions

SESSION = "work"


class ClaimingProgram:
    """Runs one session called `work`, and puts its claim into the evidence; takes no options."""

    version = "1"

    def __init__(self, options: dict[str, JsonValue]) -> None:
        if options:
            raise SpecError(f"the program 'claiming' takes no options, but has {', '.join(sorted(options))}")
        self.options: dict[str, JsonValue] = {}

    def perform(self, prompt: str, sessions: Sessions) -> tuple[SessionReport, ...]:
        report = sessions.run(SESSION, framed(prompt, sessions.task.action))
        sessions.conclude(concluded(report))
        return (report,)
