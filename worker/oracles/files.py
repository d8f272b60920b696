"""The oracle `files`: each of its checks looks at one file of the finished workspace, on the host; nothing is run.

What is expected stays on the host; the finding names checks and paths, and quotes no content of either side.
"""

from pathlib import Path
from typing import Annotated

from pydantic import Field, JsonValue

from farm.model import MIB, OracleFinding, Value
from worker.checks.file_checks import AlwaysFalse, FileCheck, complaint
from worker.checks.looking import MOST_BYTES, look
from worker.options import checked
from worker.session import OracleRequest

_MOST_NAMED = 5


class FilesOptions(Value):
    """What must hold, all of it."""

    checks: Annotated[tuple[FileCheck, ...], Field(min_length=1, max_length=100)]
    most_file_bytes: Annotated[int, Field(gt=0, le=MOST_BYTES)] = MIB
    """A larger file fails every check of its content."""


class FilesOracle:
    """Judges the workspace by its files: right when every check holds."""

    version = "1"

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(FilesOptions, options, "oracle 'files'")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json")

    def find(self, request: OracleRequest) -> OracleFinding:
        """Judge every check, whatever the others say; its numbers are how many there are and how many hold."""
        checks = self._options.checks
        wrong = [said for check in checks if (said := self._wrong(check, request.workspace)) is not None]
        numbers = {"checks": len(checks), "checks_held": len(checks) - len(wrong)}
        return OracleFinding(correct=not wrong, answer_error=_said(wrong), numbers=numbers)

    def _wrong(self, check: FileCheck, workspace: Path) -> str | None:
        if isinstance(check, AlwaysFalse):
            return f"{check.kind}: {check.reason}"
        why = complaint(check, look(workspace, check.path, self._options.most_file_bytes))
        return None if why is None else f"{check.kind} {check.path}: {why}"


def _said(wrong: list[str]) -> str | None:
    if not wrong:
        return None
    more = f"; and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
    return "; ".join(wrong[:_MOST_NAMED]) + more
