"""Scripted histories of the reliability protocol: what each run of the preset's 300 does, and what follows from it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum

from farm.gates.reliability.trial import Part, Trial
from farm.gates.table import Row, Table
from farm.model import (
    Arm,
    ArmRole,
    Cell,
    CellOrder,
    Digest,
    OracleFinding,
    OracleSpec,
    Pin,
    Plan,
    ScopeFinding,
    Snapshot,
    Task,
    TaskSpec,
    Terminal,
    governed,
)
from farm.model.preregistration import LockPin, Preregistration, SourceState
from farm.planning.cells import Ordering, order_cells
from farm.planning.reliability import BASELINE, MODEL, REFERENCE, TRIALS, known_tasks
from tests.builders.gates import ENDED_WELL, a_session

TASKS = known_tasks(180.0)
LOOSE = frozenset(task.id for task in TASKS[:10])
"""Tasks that a careless session says are done when they are not."""


class Conduct(StrEnum):
    """What a run does. A governed one opens the contract that its arm asks for."""

    SOLVES = "solves"
    """Does what is asked for, and says so."""
    REPAIRS = "repairs"
    """Stops with nothing done, is told so by its governor, and does it."""
    CLAIMS = "claims"
    """Does nothing, and says that it is done."""
    REFUSES = "refuses"
    """Does nothing, and says so; a governor uses up its budget."""
    CHEATS = "cheats"
    """Opens a contract that holds of wrong work, does that, and says that it is done."""


History = Callable[[TaskSpec, Part, int], Conduct]


def proven(task: TaskSpec, part: Part, trial: int) -> Conduct:
    """Without a governor it claims too much; with one it repairs what it has left."""
    if not task.solvable:
        return Conduct.CLAIMS if part is Part.BASELINE and trial <= 2 else Conduct.REFUSES
    if task.id not in LOOSE or trial > 3:
        return Conduct.SOLVES
    return Conduct.CLAIMS if part is Part.BASELINE else Conduct.REPAIRS


def harmful(task: TaskSpec, part: Part, trial: int) -> Conduct:
    """As proven, but for one run that certifies wrong work."""
    is_it = (task.id, part, trial) == (TASKS[0].id, Part.MODEL, 1)
    return Conduct.CHEATS if is_it else proven(task, part, trial)


def inconclusive(task: TaskSpec, _part: Part, _trial: int) -> Conduct:
    """Nobody claims too much, so a governor has nothing to better."""
    return Conduct.SOLVES if task.solvable else Conduct.REFUSES


HISTORIES: Mapping[str, History] = {"PROVEN": proven, "HARMFUL": harmful, "INCONCLUSIVE": inconclusive}
"""By what the gate must say."""


def trials(history: History) -> dict[Part, list[Trial]]:
    """Tell what the gate's pure part is to make of a history."""
    return {part: list(_trials(history, part)) for part in Part}


def _trials(history: History, part: Part) -> Iterator[Trial]:
    for task in TASKS:
        for number in range(1, TRIALS + 1):
            yield a_trial(task, part, number, history(task, part, number))


def a_trial(task: TaskSpec, part: Part, number: int, conduct: Conduct) -> Trial:
    """Tell what follows from what one run does."""
    is_governed = part is not Part.BASELINE
    return Trial(
        task=task.id,
        part=part,
        number=number,
        is_solvable=task.solvable,
        oracle_passed=conduct in {Conduct.SOLVES, Conduct.REPAIRS},
        claims_success=conduct is not Conduct.REFUSES,
        terminal=_terminal(conduct) if is_governed else Terminal.NONE,
        has_contract=is_governed,
        matches_reference=part is Part.REFERENCE,
    )


def _terminal(conduct: Conduct) -> Terminal:
    return Terminal.EXHAUSTED if conduct is Conduct.REFUSES else Terminal.CERTIFIED


ARMS = {
    BASELINE: (Part.BASELINE, ArmRole.INCUMBENT),
    MODEL: (Part.MODEL, ArmRole.CANDIDATE),
    REFERENCE: (Part.REFERENCE, ArmRole.COMPARATOR),
}
BUDGET = 3
REGISTERED = Preregistration(
    lock=LockPin(id="reliability-1", digest=Digest.of(b"lock")),
    source=SourceState(commit="c" * 40, upstream="c" * 40, is_clean=True),
)


def a_plan(preregistration: Preregistration | None = REGISTERED) -> Plan:
    """Give the preset's plan, but for what is pinned of agents and programs."""
    pin = Pin(name="scripted", version="1")
    arms = tuple(Arm(name=name, role=role, agent=pin, program=pin) for name, (_, role) in ARMS.items())
    cells = order_cells([task.id for task in TASKS], list(ARMS), TRIALS, Ordering(CellOrder.DIAGONAL))
    return Plan(
        name="live",
        farm_version="1",
        tasks=tuple(map(frozen, TASKS)),
        arms=arms,
        trials=TRIALS,
        cells=tuple(cells),
        order=CellOrder.DIAGONAL,
        preregistration=preregistration,
    )


def a_table(history: History, plan: Plan | None = None) -> Table:
    """Tell a history as the table that a gate is asked about, in the plan's order."""
    plan = a_plan() if plan is None else plan
    specs = {task.id: task for task in TASKS}
    return Table(plan=plan, lifecycle=ENDED_WELL, rows=tuple(_row(history, specs[one.task], one) for one in plan.cells))


def frozen(task: TaskSpec) -> Task:
    """Give a task as a plan has it, but for the bytes of its inputs."""
    return Task(
        id=task.id,
        snapshot=Snapshot(commit="a" * 40, tree=Digest.of(task.id.encode()), size_bytes=1),
        prompt=Digest.of((task.prompt or "").encode()),
        oracle=OracleSpec(kind=task.oracle.kind, options=task.oracle.options),
        label=task.label,
        solvable=task.solvable,
        action=task.action,
    )


def _row(history: History, task: TaskSpec, cell: Cell) -> Row:
    part, role = ARMS[cell.arm]
    trial = a_trial(task, part, cell.trial, history(task, part, cell.trial))
    return Row(
        cell=cell.id,
        task=cell.task,
        arm=cell.arm,
        role=role,
        trial=cell.trial,
        sessions=(a_session(),),
        oracle=OracleFinding(correct=trial.oracle_passed),
        scope=ScopeFinding(),
        duration_s=12.5,
        governed=_governed(task, trial, history(task, part, cell.trial)),
        attempts=1,
    )


def _governed(task: TaskSpec, trial: Trial, conduct: Conduct) -> governed.Governed:
    if trial.part is Part.BASELINE:
        return governed.Governed(claims_success=trial.claims_success)
    return governed.Governed(
        claims_success=trial.claims_success,
        is_governed=True,
        contract=_contract(task, trial),
        attempts=tuple(_attempts(task, trial, conduct)),
        terminal=trial.terminal,
    )


def _contract(task: TaskSpec, trial: Trial) -> governed.ContractRecord:
    coverage = governed.Coverage(
        status="complete", critical_percent=100.0, weighted_percent=100.0, sources=1, receipt=_receipt("coverage")
    )
    return governed.ContractRecord(
        receipt=_receipt(f"{task.id}/{trial.part}"),
        checks=len(_checks(task)),
        attempts=BUDGET,
        matches_reference=True if trial.part is Part.REFERENCE else None,
        coverage=coverage,
    )


def _attempts(task: TaskSpec, trial: Trial, conduct: Conduct) -> Iterator[governed.AttemptRecord]:
    """One attempt certifies, a repair is the second, and who refuses uses up all of them."""
    stops = {Conduct.REPAIRS: [False, True], Conduct.REFUSES: [False] * BUDGET}.get(conduct, [True])
    for number, passed in enumerate(stops, start=1):
        results = [
            governed.CheckResult(id=f"check-{place}", kind=kind, passed=passed)
            for place, kind in enumerate(_checks(task), start=1)
        ]
        yield governed.AttemptRecord(
            number=number,
            passed=passed,
            results=tuple(results),
            oracle_passed=passed and trial.oracle_passed,
            receipt=_receipt(f"{task.id}/{trial.part}/{trial.number}/{number}"),
        )


def _checks(task: TaskSpec) -> Sequence[str]:
    """Name the kinds of a contract's checks: the oracle's, and of what nothing solves, that a proof is there."""
    checks = task.oracle.options["checks"]
    kinds = [str(check["kind"]) for check in checks] if isinstance(checks, list) else []  # type: ignore[index, call-overload]  (the options are JSON)
    return ["file_exists" if kind == "always_false" else kind for kind in kinds]


def _receipt(of: str) -> str:
    return f"sha256:{Digest.of(of.encode())}"
