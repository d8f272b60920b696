"""Sessions that end as told, for programs that are tried without a line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from farm.model import Digest, ExitKind, Governed, OracleSpec, ProcessExit, SessionReport, Snapshot, Task
from worker.phases import FREE, Footprint, Phase, PhaseEnd
from worker.session import Standstill
from worker.trees.scan import Entry, EntryKind, Tree, changes_between

DONE = ProcessExit(kind=ExitKind.EXITED, code=0, wall_s=1.0)


def a_file(content: str = "x", kind: EntryKind = EntryKind.FILE) -> Entry:
    return Entry(kind, executable=False, size=len(content), content=content)


def a_footprint(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> Footprint:
    tree = Tree(after)
    return Footprint(changes_between(Tree(before), tree), tree)


SOME = Digest.of(b"something")


def a_task(**fields: Any) -> Task:
    given = {"id": "fix", "oracle": OracleSpec(kind="command"), **fields}
    return Task(snapshot=Snapshot(commit="0" * 40, tree=SOME, size_bytes=1), prompt=SOME, **given)


@dataclass(frozen=True)
class Asked:
    """One session that a program asked for."""

    name: str
    prompt: str
    phase: Phase


@dataclass
class ToldSessions:
    """Ends each session with the footprint and the problem that are told for its name."""

    footprints: Mapping[str, Footprint] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    task: Task = field(default_factory=a_task)
    answer: str | None = None
    concluded: list[Governed] = field(default_factory=list)

    def run(self, name: str, prompt: str) -> SessionReport:
        return self.run_phase(name, prompt, FREE).report

    def run_phase(self, name: str, prompt: str, phase: Phase) -> PhaseEnd:
        self.asked.append(Asked(name, prompt, phase))
        reason = self.reasons.get(name, "success")
        problem = None if reason == "success" else "it ended badly"
        report = SessionReport(name=name, exit=DONE, reason=reason, problem=problem, final_answer=self.answer)
        return PhaseEnd(report, self.footprints.get(name))

    @property
    def still(self) -> Standstill:
        raise NotImplementedError

    def conclude(self, governed: Governed) -> None:
        self.concluded.append(governed)
