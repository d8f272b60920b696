"""From rows to scripted runs: what one came to, and how."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from farm.gates.mechanism.policy import Expected, MatrixPolicy
from farm.gates.table import Row, Table
from farm.model import Digest, Governed, SessionReport, Terminal, canonical_json
from farm.model.base import Value


class Step(Value):
    """One session, as far as a script decides it."""

    name: str
    code: int | None
    reason: str
    problem: str | None
    answer: str | None
    turns: int | None
    tool_calls: dict[str, int] | None


class Trajectory(Value):
    """All of a run that its script decides: nothing of when, where or how fast."""

    steps: tuple[Step, ...]
    oracle: bool
    answer_error: str | None
    governed: Governed


@dataclass(frozen=True, slots=True)
class ScriptedRun:
    """One measured run of a fault."""

    cell: str
    task: str
    arm: str
    oracle_passed: bool
    governed: Governed
    replies: int | None
    """Those that the model was asked for; None: a session does not tell."""
    trajectory: Digest

    @property
    def completes_falsely(self) -> bool:
        return self.governed.claims_success and not self.oracle_passed

    @property
    def certifies_falsely(self) -> bool:
        return self.governed.terminal is Terminal.CERTIFIED and not self.oracle_passed

    def differences(self, expected: Expected) -> Iterator[str]:
        """Say in what the run is not what its script must make it."""
        found = (self.oracle_passed, self.governed.claims_success, self.governed.terminal)
        wanted = (expected.oracle, expected.claims, expected.terminal)
        for name, one, other in zip(("oracle", "claims", "terminal"), found, wanted, strict=True):
            if one != other:
                yield f"{name} is {_word(one)}, not {_word(other)}"
        if self.replies != expected.replies:
            used = "an unknown number" if self.replies is None else self.replies
            yield f"{used} of its script's {expected.replies} replies were asked for"


@dataclass(frozen=True, slots=True)
class Runs:
    """What the table holds of the two arms, in the plan's order."""

    measured: tuple[ScriptedRun, ...]
    missing: tuple[str, ...]
    """Cells without evidence."""

    def of(self, task: str, arm: str) -> Sequence[ScriptedRun]:
        return [run for run in self.measured if (run.task, run.arm) == (task, arm)]


def read_runs(table: Table, policy: MatrixPolicy) -> Runs:
    """Take the rows of the two arms; other arms' are left out."""
    measured: list[ScriptedRun] = []
    missing: list[str] = []
    for row in table.rows:
        if row.arm not in {policy.baseline, policy.governed}:
            continue
        run = _run(row)
        if run is None:
            missing.append(row.cell)
        else:
            measured.append(run)
    return Runs(tuple(measured), tuple(missing))


def _run(row: Row) -> ScriptedRun | None:
    governed = row.governed
    if row.oracle is None or row.oracle.correct is None or governed is None:
        return None
    turns = [session.turns for session in row.sessions]
    trajectory = Trajectory(
        steps=tuple(map(_step, row.sessions)),
        oracle=row.oracle.correct,
        answer_error=row.oracle.answer_error,
        governed=governed,
    )
    return ScriptedRun(
        cell=row.cell,
        task=row.task,
        arm=row.arm,
        oracle_passed=row.oracle.correct,
        governed=governed,
        replies=None if None in turns else sum(one for one in turns if one is not None),
        trajectory=Digest.of(canonical_json(trajectory)),
    )


def _step(session: SessionReport) -> Step:
    return Step(
        name=session.name,
        code=session.exit.code,
        reason=session.reason,
        problem=session.problem,
        answer=session.final_answer,
        turns=session.turns,
        tool_calls=session.tool_calls,
    )


def _word(value: object) -> str:
    return str(value).lower()
