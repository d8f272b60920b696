"""The fault matrix as a settled table: every run as its script must make it, but for what a test changes."""

from collections.abc import Callable
from typing import Any

from farm.gates.mechanism import MechanismGate
from farm.gates.mechanism.policy import Expected, MatrixPolicy
from farm.gates.table import Row, Table
from farm.model import Arm, ArmRole, Cell, Governed, OracleFinding, Pin, Plan, ScopeFinding, SweepSpec
from farm.planning.faults import BASELINE, GOVERNED, TRIALS, expand
from tests.builders.gates import ENDED_WELL, a_session
from tests.builders.live_histories import frozen

Change = Callable[[Row], Row]


def a_spec(preset: dict[str, Any] | None = None, **fields: Any) -> SweepSpec:
    """Write the preset out."""
    options = {"kind": "faults"} | (preset or {})
    return expand(SweepSpec.model_validate({"name": "faults", "preset": options} | fields), None).spec


def a_policy() -> dict[str, Any]:
    """Give the gate's policy as the plan pins it."""
    spec = a_spec()
    return MechanismGate().policy(spec.gates[0].options, tuple(task.id for task in spec.tasks))


def unchanged(row: Row) -> Row:
    return row


def a_table(change: Change = unchanged, trials: int = TRIALS) -> Table:
    """Give the rows in the plan's order, each changed."""
    tasks = a_spec().tasks
    pin = Pin(name="scripted", version="1")
    roles = {BASELINE: ArmRole.INCUMBENT, GOVERNED: ArmRole.CANDIDATE}
    cells = tuple(
        Cell(task=task.id, arm=arm, trial=trial) for task in tasks for trial in range(1, trials + 1) for arm in roles
    )
    plan = Plan(
        name="faults",
        farm_version="1",
        tasks=tuple(map(frozen, tasks)),
        arms=tuple(Arm(name=name, role=role, agent=pin, program=pin) for name, role in roles.items()),
        trials=trials,
        cells=cells,
    )
    policy = MatrixPolicy.model_validate(a_policy())
    rows = (change(_row(cell, roles[cell.arm], policy.of(cell.task, cell.arm))) for cell in cells)
    return Table(plan=plan, lifecycle=ENDED_WELL, rows=tuple(rows))


def _row(cell: Cell, role: ArmRole, expected: Expected) -> Row:
    return Row(
        cell=cell.id,
        task=cell.task,
        arm=cell.arm,
        role=role,
        trial=cell.trial,
        sessions=(a_session(turns=expected.replies),),
        oracle=OracleFinding(correct=expected.oracle),
        scope=ScopeFinding(),
        governed=Governed(claims_success=expected.claims, is_governed=cell.arm == GOVERNED, terminal=expected.terminal),
        attempts=1,
    )
