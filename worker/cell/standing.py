"""The cell between two sessions, as a program may look at it: nothing of it runs, and no session sees what is found."""

import os
from dataclasses import dataclass

from farm.model import MIB, SessionReport
from worker.cell.attempt import Attempt
from worker.cell.boxes import Boxes
from worker.cell.checking import Checks
from worker.checks.file_checks import Found
from worker.checks.looking import MOST_BYTES, look
from worker.collect.outputs import take_artifact
from worker.collect.streams import GOVERNOR_LOG, GOVERNOR_MEDIA
from worker.session import ArtifactProblem


@dataclass(frozen=True, slots=True)
class Still:
    """Looks, runs and asks, out of every session's reach."""

    attempt: Attempt
    boxes: Boxes
    checks: Checks

    def look(self, path: str) -> Found:
        return look(self.boxes.folder.workspace, path, self._most_bytes)

    @property
    def _most_bytes(self) -> int:
        """As the task's oracle `files` bounds a file, where it has one: both are to see the same."""
        stated = self.checks.cast.task.oracle.options.get("most_file_bytes")
        return stated if isinstance(stated, int) and 0 < stated <= MOST_BYTES else MIB

    def artifact(self, path: str, most_bytes: int) -> bytes | ArtifactProblem:
        return take_artifact(self.boxes.folder.out, path, most_bytes)

    def verify(self, argv: tuple[str, ...]) -> bool:
        return self.checks.passes(argv)

    def judge(self, sessions: tuple[SessionReport, ...]) -> bool | None:
        return self.checks.judge_still(sessions).correct

    def note(self, line: bytes) -> None:
        """Write it at once to the cell's folder, where it is found if this worker dies, and keep the whole so far."""
        log = self.boxes.folder.path / GOVERNOR_LOG
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(line)
        self.attempt.keeper.keep(GOVERNOR_LOG, GOVERNOR_MEDIA, log.read_bytes())
