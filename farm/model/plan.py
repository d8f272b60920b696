"""The plan: the frozen, totally ordered cells with every input pinned by digest.

What must stay true: the same inputs give the same plan digest on any machine, and everything that may change a
result is in here.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from farm.model.arm import Arm, ArmRole, Pin
from farm.model.base import Value, is_none
from farm.model.canonical import canonical_json
from farm.model.digest import Digest
from farm.model.door import CellBudget, SweepBudget
from farm.model.evolution import EvolutionPin
from farm.model.expected import Duration, most_s, typical_s
from farm.model.limits import CheckLimits, Seconds
from farm.model.metric import Metric
from farm.model.names import CellId, Name, cell_id
from farm.model.origin import Origin
from farm.model.policy import BreakerPolicy, CellOrder, DispatchPolicy, RetryPolicy
from farm.model.preregistration import Preregistration
from farm.model.task import Task
from farm.model.time_window import WindowText

REUSING = frozenset({ArmRole.INCUMBENT, ArmRole.COMPARATOR})
"""What a candidate or a control is compared with may be known already; they themselves are measured."""


class Cell(Value):
    """One (task, arm, trial): the unit that is planned, run and settled."""

    task: Name
    arm: Name
    trial: Annotated[int, Field(ge=1)]

    @property
    def id(self) -> CellId:
        return cell_id(self.task, self.arm, self.trial)


class Plan(Value):
    """A sweep, frozen; its cells run, and are folded, in this order."""

    model_config = ConfigDict(ignored_types=(cached_property,))

    schema_version: Literal[1] = 1
    name: Name
    farm_version: str
    tasks: tuple[Task, ...]
    arms: tuple[Arm, ...]
    trials: Annotated[int, Field(ge=1)]
    cells: tuple[Cell, ...]
    skipped: tuple[Name, ...] = ()
    """Expensive tasks of the sweep file, which nobody asked for."""
    order: CellOrder = CellOrder.ROTATED
    """By which the cells were put into theirs."""
    seed: int | None = None
    """Of a seeded order."""
    metrics: tuple[Metric, ...] = ()
    gates: tuple[Pin, ...] = ()
    prices: Digest | None = None
    """The price table's bytes."""
    budget: SweepBudget | None = None
    """Of all attempts together; what one attempt reserves of it is its cell_budget."""
    cell_budget: CellBudget | None = None
    """Of each attempt of a cell."""
    sandbox: Name = "bubblewrap"
    dispatch: DispatchPolicy = DispatchPolicy()
    retry: RetryPolicy = RetryPolicy()
    breaker: BreakerPolicy = BreakerPolicy()
    deadline_s: Seconds | None = None
    """Counted from the sweep's opening; at it, running cells are stopped and the sweep closes."""
    grace_s: Seconds = 5.0
    """Shared by settling and clean-up."""
    windows: tuple[WindowText, ...] = ()
    """When its cells may run, in any of them; (): always."""
    upload_s: Seconds = 30.0
    """What an attempt keeps free before a window's end, to upload what it found."""
    durations: dict[Name, dict[Name, Duration]] = {}
    """By task and arm: what cells' sessions are expected to last."""

    reused: dict[CellId, Origin] = {}
    """Cells that are not run: an earlier sweep measured them under the same lock."""
    preregistration: Preregistration | None = Field(default=None, exclude_if=is_none)
    """None: nothing was fixed beforehand, and nothing was cut."""
    evolution: EvolutionPin | None = Field(default=None, exclude_if=is_none)
    """None: nobody asks whether what its candidates change shall be changed where it lives."""

    @model_validator(mode="after")
    def _cells_name_what_is_here(self) -> "Plan":
        tasks, arms = set(self.task_by_name), set(self.arm_by_name)
        if len({cell.id for cell in self.cells}) != len(self.cells):
            raise ValueError("a plan holds a cell twice")
        if any(cell.task not in tasks or cell.arm not in arms for cell in self.cells):
            raise ValueError("a plan's cell names a task or an arm that the plan does not hold")
        return self

    @model_validator(mode="after")
    def _reuse_leaves_each_arm_something_to_measure(self) -> "Plan":
        if not self.reused:
            return self
        for cell in self.reused:
            index = self.index_by_cell.get(cell)
            if index is None or self.arm_by_name[self.cells[index].arm].role not in REUSING:
                raise ValueError(f"a plan reuses {cell}, which is no cell of an incumbent or comparator of its own")
        fresh = {cell.arm for cell in self.cells if cell.id not in self.reused}
        if stale := {cell.arm for cell in self.cells} - fresh:
            raise ValueError(f"a plan would measure nothing of arm {min(stale)}: one of its cells must be run")
        return self

    def with_reused(self, reused: Mapping[CellId, Origin]) -> "Plan":
        """Copy with these cells taken over from earlier sweeps; what was computed of this plan is not kept."""
        return self._with({"reused": dict(reused)})

    def with_preregistration(self, known: Preregistration) -> "Plan":
        """Copy that says how it was fixed beforehand; what was computed of this plan is not kept."""
        return self._with({"preregistration": known})

    def with_evolution(self, pin: EvolutionPin) -> "Plan":
        """Copy that says which step of an evolution it is; what was computed of this plan is not kept."""
        return self._with({"evolution": pin})

    def _with(self, changed: Mapping[str, object]) -> "Plan":
        return Plan.model_validate({name: getattr(self, name) for name in Plan.model_fields} | dict(changed))

    @cached_property
    def reused_indices(self) -> frozenset[int]:
        return frozenset(self.index_by_cell[cell] for cell in self.reused)

    @cached_property
    def task_by_name(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks}

    @cached_property
    def arm_by_name(self) -> dict[str, Arm]:
        return {arm.name: arm for arm in self.arms}

    @cached_property
    def index_by_cell(self) -> dict[CellId, int]:
        return {cell.id: index for index, cell in enumerate(self.cells)}

    @cached_property
    def digest(self) -> Digest:
        return Digest.of(canonical_json(self))

    def expected_s(self, cell: Cell) -> float | None:
        """Give what nine in ten such cells' sessions are expected to last at most; None: nobody knows."""
        found = self.durations.get(cell.task, {}).get(cell.arm)
        return None if found is None else most_s(found)

    def typical_s(self, cell: Cell) -> float | None:
        """Give what half of such cells' sessions last at most, or the best that is known; None: nobody knows."""
        found = self.durations.get(cell.task, {}).get(cell.arm)
        return None if found is None else typical_s(found)

    def sessions_s(self, cell: Cell) -> float:
        """Give what the cell's sessions must have free to be begun: what is expected, else all of their limits."""
        expected_s = self.expected_s(cell)
        return self.arm_by_name[cell.arm].sessions * self.session_s(cell) if expected_s is None else expected_s

    def session_s(self, cell: Cell) -> float:
        """Give the limit of each of the cell's sessions."""
        return self.task_by_name[cell.task].limits.wall_s

    def needed_s(self, cell: Cell) -> float:
        """Give what must be free for the cell to be begun: for its setup, its sessions, and what comes after them."""
        setup = self.task_by_name[cell.task].setup
        return (0.0 if setup is None else setup.limits.wall_s) + self.sessions_s(cell) + self.afterwards_s(cell)

    def afterwards_s(self, cell: Cell) -> float:
        """Give what must be free after the cell's sessions, to verify, judge and upload."""
        task = self.task_by_name[cell.task]
        verify: CheckLimits | None = None if task.verify is None else task.verify.limits
        return (0.0 if verify is None else verify.wall_s) + task.oracle.limits.wall_s + self.upload_s

    def lock(self, cell: Cell) -> Digest:
        """Digest everything that determines the cell's measurement but its trial: what reuse compares."""
        return self._locks[cell.task, cell.arm]

    @cached_property
    def _locks(self) -> dict[tuple[str, str], Digest]:
        return {(task.id, arm.name): cell_lock(self, task, arm) for task in self.tasks for arm in self.arms}


def cell_lock(plan: Plan, task: Task, arm: Arm) -> Digest:
    """Digest what determines a measurement of `task` under `arm`."""
    return Digest.of(
        canonical_json(
            {
                "farm_version": plan.farm_version,
                "task": task.model_dump(mode="json", exclude={"label", "solvable", "expensive"}),
                "arm": arm.model_dump(mode="json", exclude={"name", "role", "incumbent"}),
                "metrics": [metric.model_dump(mode="json") for metric in plan.metrics],
                "prices": plan.prices,
                "cell_budget": None if plan.cell_budget is None else plan.cell_budget.model_dump(mode="json"),
                "sandbox": plan.sandbox,
            }
        )
    )
