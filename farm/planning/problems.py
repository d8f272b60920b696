"""Problems of a sweep file, each with the place of the field that it is about.

Checks collect problems by field path; the loaded file knows the line of each path. Both meet here, so that every
complaint, of whatever check, reads `file:line: field: what is wrong`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from farm.errors import SpecError

Loc = tuple[str | int, ...]
"""The path of a field: names and positions from the top of the file."""

MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that the person must change."""

    loc: Loc
    text: str


@dataclass(frozen=True, slots=True)
class Places:
    """Where fields stand in a sweep file; without lines, fields are named alone."""

    file: str = ""
    lines: Mapping[Loc, int] = field(default_factory=dict)

    def line(self, loc: Loc) -> int | None:
        """Give the line of the field, or of the nearest field around it."""
        return next((self.lines[loc[:n]] for n in range(len(loc), -1, -1) if loc[:n] in self.lines), None)

    def error(self, problems: Iterable[Problem]) -> SpecError:
        """Make the one error that says the problems in the file's order, the first few of them in full."""
        ordered = sorted(problems, key=lambda problem: self.line(problem.loc) or 0)
        shown = [self._say(problem) for problem in ordered[:MOST_SHOWN]]
        if len(ordered) > MOST_SHOWN:
            shown.append(f"… and {len(ordered) - MOST_SHOWN} more")
        return SpecError("\n".join(shown))

    def _say(self, problem: Problem) -> str:
        line = self.line(problem.loc)
        place = ":".join(part for part in (self.file, "" if line is None else str(line)) if part)
        return ": ".join(part for part in (place, field_path(problem.loc), problem.text) if part)


class ProblemsError(SpecError):
    """Problems that still lack their place in a file; `plan_sweep` adds it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(str(Places().error(self.problems)))


def field_path(loc: Loc) -> str:
    """Write a path as people do: `arms[1].agent.kind`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).removeprefix(".")
