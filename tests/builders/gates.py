"""Plans, rows and tables for tests of gates and reports."""

from dataclasses import dataclass

from farm.gates.table import Lifecycle, Row, Table
from farm.model import (
    Arm,
    ArmRole,
    Cell,
    CloseReason,
    Digest,
    Direction,
    ExitKind,
    Measured,
    Metric,
    MetricSource,
    Number,
    OracleFinding,
    OracleSpec,
    Pin,
    Plan,
    ProcessExit,
    ScopeFinding,
    SessionReport,
    Snapshot,
    Task,
    Usage,
)

ON, OFF = "overlay-on", "overlay-off"
BASH_CALLS = Metric(name="bash_tool_calls", source=MetricSource.TOOL_CALLS, key="Bash", minimum=0)
BEHAVIOURS = Metric(
    name="correct_target_behaviors",
    source=MetricSource.ORACLE,
    key="behaviours",
    minimum=0,
    maximum=3,
    direction=Direction.HIGHER,
)


def a_digest(text: str = "") -> Digest:
    return Digest.of(text.encode())


def an_exit(kind: ExitKind = ExitKind.EXITED, code: int | None = 0) -> ProcessExit:
    return ProcessExit(kind=kind, code=code if kind is ExitKind.EXITED else None, wall_s=1.5, cpu_s=0.5)


def a_session(**changes) -> SessionReport:
    report = SessionReport(
        name="work",
        exit=an_exit(),
        reason="success",
        final_answer='{"version":"1.0.0"}',
        turns=3,
        tool_calls={"Bash": 2, "Read": 1},
        usage=Usage(input_tokens=1200, output_tokens=340, thinking_tokens=31),
        model="model-a",
    )
    return report.model_copy(update=changes)


def a_task(name: str = "answer") -> Task:
    snapshot = Snapshot(commit="a" * 40, tree=a_digest("tree"), size_bytes=10_240)
    oracle = OracleSpec(kind="answer", options={"equals": {"version": "1.0.0"}})
    return Task(id=name, snapshot=snapshot, prompt=a_digest("prompt"), oracle=oracle)


def an_arm(name: str, role: ArmRole) -> Arm:
    return Arm(name=name, role=role, agent=Pin(name="scripted", version="1"), program=Pin(name="single", version="1"))


TWO_ARMS = (an_arm(OFF, ArmRole.INCUMBENT), an_arm(ON, ArmRole.CANDIDATE))


def a_plan(
    tasks: tuple[str, ...] = ("answer",), trials: int = 10, metric: Metric = BASH_CALLS, gates: tuple[Pin, ...] = ()
) -> Plan:
    cells = tuple(
        Cell(task=task, arm=arm.name, trial=trial)
        for task in tasks
        for trial in range(1, trials + 1)
        for arm in TWO_ARMS
    )
    return Plan(
        name="demo",
        farm_version="0.1.0",
        tasks=tuple(a_task(task) for task in tasks),
        arms=TWO_ARMS,
        trials=trials,
        cells=cells,
        metrics=(metric,),
        gates=gates,
    )


@dataclass(frozen=True, slots=True)
class At:
    """Where a row stands."""

    arm: str = ON
    trial: int = 1
    task: str = "answer"


def a_row(at: At = At(), value: Number | None = 0, metric: Metric = BASH_CALLS, **changes) -> Row:
    row = Row(
        cell=f"{at.task}.{at.arm}.{at.trial}",
        task=at.task,
        arm=at.arm,
        role=ArmRole.CANDIDATE if at.arm == ON else ArmRole.INCUMBENT,
        trial=at.trial,
        sessions=(a_session(),),
        oracle=OracleFinding(correct=True),
        scope=ScopeFinding(),
        metrics={metric.name: Measured(name=metric.name, value=value)},
        duration_s=12.5,
        attempts=1,
    )
    return row.model_copy(update=changes)


ENDED_WELL = Lifecycle(close=CloseReason.COMPLETE, cleanup_incomplete=False)


def a_table(rows: tuple[Row, ...], plan: Plan | None = None, lifecycle: Lifecycle = ENDED_WELL) -> Table:
    plan = plan or a_plan()
    return Table(plan=plan, lifecycle=lifecycle, rows=rows)


def rows_of(on: list[Number], off: list[Number], metric: Metric = BASH_CALLS, task: str = "answer") -> tuple[Row, ...]:
    """Make valid, correct rows with these metrics."""
    sides = ((ON, on), (OFF, off))
    return tuple(
        a_row(At(arm, trial, task), value, metric)
        for arm, values in sides
        for trial, value in enumerate(values, start=1)
    )
