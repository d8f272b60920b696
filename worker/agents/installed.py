"""The agents' own programs on this host: <folder>/<kind>/<version>, as ops/agents.sh puts them there.

Beside each stands `.installed`, its last file: a folder without one was never finished. A program is asked for its
version once; what it says, not where it stands, is what counts: npm puts older ones into the place of newer ones.
"""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from farm.errors import TransientError
from worker.session import AgentProgram

_MARK = ".installed"
_MOST_WAIT_S = 30.0
_MOST_SAID = 200


@dataclass(frozen=True, slots=True)
class _Known:
    """One executable at one state of its file."""

    path: Path
    changed_ns: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class InstalledPrograms:
    """What stands below one folder; asks each executable once for as long as its file is the same."""

    folder: Path
    _said: dict[_Known, str] = field(default_factory=dict)

    def all(self) -> tuple[AgentProgram, ...]:
        """List the programs that run and are what their folder says."""
        places = sorted(path.parent for path in self.folder.glob(f"*/*/{_MARK}"))
        programs = (AgentProgram(place.parent.name, place.name) for place in places)
        return tuple(program for program in programs if self._problem(program) is None)

    def place(self, program: AgentProgram) -> Path:
        """Give the folder to bind at AGENT; raise TransientError, which says what to do, when this host lacks it."""
        problem = self._problem(program)
        if problem is not None:
            raise TransientError(problem)
        return self._place(program)

    def _place(self, program: AgentProgram) -> Path:
        return self.folder / program.kind / program.version

    def _problem(self, program: AgentProgram) -> str | None:
        place, name = self._place(program), f"{program.kind} {program.version}"
        try:
            executable = place / _program_of(place / _MARK)
            seen = executable.stat()
            known = _Known(executable, seen.st_mtime_ns, seen.st_size)
            if known not in self._said:
                self._said[known] = _version(executable)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            why = "" if isinstance(error, FileNotFoundError) else f" ({error})"
            return f"this host has no {name} below {self.folder}{why}; run ops/agents.sh"
        said = self._said[known]
        if program.version in said.split():
            return None
        return f"{executable} says {said!r}, where {name} should stand; run ops/agents.sh"


def _program_of(mark: Path) -> PurePosixPath:
    words = mark.read_text().split()
    program = PurePosixPath(words[0] if words else "")
    if not program.name or program.is_absolute() or ".." in program.parts:
        raise ValueError(f"{mark} names no program below its folder")
    return program


def _version(executable: Path) -> str:
    """Ask an executable, in a home of its own: some write one even for this."""
    with TemporaryDirectory(prefix="cellfarm-") as home:
        asked = subprocess.run(  # noqa: S603 (installed by the operator, and checked by ops/agents.sh)
            (executable, "--version"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"HOME": home, "PATH": "/usr/bin:/bin"},
            timeout=_MOST_WAIT_S,
            check=True,
        )
    return asked.stdout.decode(errors="replace").strip()[:_MOST_SAID]
