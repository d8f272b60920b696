"""One session, with the task's prompt."""

from pydantic import JsonValue

from farm.errors import SpecError
from farm.model import SessionReport
from worker.session import Sessions

SESSION = "work"


class SingleProgram:
    """Runs one session called `work`; takes no options."""

    version = "1"

    def __init__(self, options: dict[str, JsonValue]) -> None:
        if options:
            raise SpecError(f"the program 'single' takes no options, but has {', '.join(sorted(options))}")
        self.options: dict[str, JsonValue] = {}

    def perform(self, prompt: str, sessions: Sessions) -> tuple[SessionReport, ...]:
        return (sessions.run(SESSION, prompt),)
