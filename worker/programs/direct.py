"""One work session, with more to its prompt than the task's, and bounds of its own."""

from pydantic import JsonValue

from farm.model import SessionReport
from worker.options import checked
from worker.phases import Demand, Phase
from worker.programs.texts import FOREGROUND, Telling, Text, Untouched, ensure_marked
from worker.session import Sessions

SESSION = "work"
_WHOSE = "program 'direct'"


class DirectOptions(Telling, Untouched):
    """How the one session is told what to do."""

    prompt: Text = "{prompt}"


class DirectProgram:
    """Runs one session called `work`; one that changes nothing has given a wrong answer."""

    version = "1"

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(DirectOptions, options, _WHOSE)
        ensure_marked(self._options.prompt, "{prompt}", f"{_WHOSE}, prompt")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json", exclude_none=True)
        self.demands: tuple[Demand, ...] = (self._options.demand,)

    def perform(self, prompt: str, sessions: Sessions) -> tuple[SessionReport, ...]:
        options = self._options
        told = options.told({"{prompt}": prompt}, FOREGROUND)
        phase = Phase(demand=options.demand, may_not_change=options.may_not_change, work_beside=())
        return (sessions.run_phase(SESSION, told, phase).report,)
