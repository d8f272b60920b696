"""One session that reviews a read-only workspace and writes what it found to one JSON file outside it."""

from typing import Annotated

from pydantic import Field, JsonValue

from farm.model import KIB, SessionReport
from worker.options import checked
from worker.phases import ArtifactPlace, Demand, Phase
from worker.programs.texts import Telling, Text, ensure_marked, filled
from worker.session import OUT, Sessions

SESSION = "review"
ROLE = "review"
_WHOSE = "program 'review'"
_FINDING = (
    '{"id": "F1", "severity": "critical|high|medium|low", "path": "src/a.py", "line": 1, "end_line": 1, '
    '"category": "…", "scenario": "…", "evidence": "…", "recommendation": "…", "blocking": true}'
)
_CONTRACT = """\
The workspace is read-only. Write the review to the file {artifact}, which does not exist yet, as one JSON object in
UTF-8, without anything around it:

{"schema_version": 1, "verdict": "approve|comment|request_changes", "findings": [{finding}]}

Each of these keys must stand, and no other. There are at most 100 findings, each with an id of its own. A path is
relative to the repository; lines are counted from 1, and end_line is no smaller than line. `approve` goes with no
finding, and `request_changes` with at least one that is blocking."""


class ReviewOptions(Telling):
    """What the reviewer is told."""

    prompt: Text = "{prompt}"
    most_bytes: Annotated[int, Field(gt=0, le=1024 * KIB)] = 256 * KIB
    """Of the review."""


class ReviewProgram:
    """Runs one session called `review`; what it wrote is the artifact `review`."""

    version = "1"

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(ReviewOptions, options, _WHOSE)
        ensure_marked(self._options.prompt, "{prompt}", f"{_WHOSE}, prompt")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json", exclude_none=True)
        self.demands: tuple[Demand, ...] = (self._options.demand,)

    def perform(self, prompt: str, sessions: Sessions) -> tuple[SessionReport, ...]:
        options = self._options
        place = ArtifactPlace(ROLE, "review", "review.json", "application/json", options.most_bytes)
        path = f"{OUT}/{place.path}"
        marks = {"{artifact}": path, "{finding}": _FINDING}
        told = options.told({**marks, "{prompt}": prompt}, filled(_CONTRACT, marks))
        phase = Phase("review-evidence-invalid", options.demand, is_writable=False, artifact=place)
        return (sessions.run_phase(SESSION, told, phase).report,)
