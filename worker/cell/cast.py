"""Who plays in a cell: its plan, its texts and its plug-ins, read once and kept for the cells that follow."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from farm.errors import IntegrityError, SpecError, TransientError
from farm.model import (
    Arm,
    Cell,
    Digest,
    Pin,
    Plan,
    PluginGroup,
    PriceTable,
    Task,
    Ticket,
    cell_lock,
    needs,
    parse_record,
)
from farm.model.keys import plan_key
from worker.cell.ports import PluginSource, Truth
from worker.kept import Kept
from worker.phases import Demand
from worker.session import Agent, Demanding, Oracle, Program
from worker.staging.setup import Guarded, guarded

_MOST_PLANS = 4
_MOST_KEPT = 256


@dataclass(frozen=True, slots=True)
class Cast:
    """All that the line needs to know of one cell."""

    plan: Plan
    cell: Cell
    task: Task
    arm: Arm
    lock: Digest
    prompt: str
    instructions: str | None
    agent: Agent
    program: Program
    oracle: Oracle
    prices: PriceTable | None = None
    guarded: Guarded = field(default_factory=Guarded)
    """What the task's setup must leave alone, where it has one."""
    agents: Mapping[Demand, Agent] = field(default_factory=dict)
    """Those of the program's phases that demand something."""

    def agent_for(self, demand: Demand) -> Agent:
        """Give the agent as the phase demands it; raise SpecError for a demand that the program had not announced."""
        if demand == Demand():
            return self.agent
        if demand not in self.agents:
            raise SpecError(f"the program {self.arm.program.name!r} did not announce {demand} among its demands")
        return self.agents[demand]


class Casting:
    """Finds the cast of a ticket's cell."""

    def __init__(self, truth: Truth, plugins: PluginSource) -> None:
        self._truth = truth
        self._plugins = plugins
        self._plans: Kept[Digest, Plan] = Kept(_MOST_PLANS)
        self._casts: Kept[tuple[Digest, str, str], _Parts] = Kept(_MOST_KEPT)

    def plan(self, ticket: Ticket) -> Plan:
        """Read the ticket's plan; raise IntegrityError when it is not there or not the plan that was meant."""
        return self._plans.get_or(ticket.plan, lambda: self._read_plan(ticket))

    def cell(self, ticket: Ticket) -> Cell:
        """Find the ticket's cell; errors as `of`."""
        return self._cell(self.plan(ticket), ticket)

    def needs(self, ticket: Ticket) -> frozenset[str]:
        """List what a host must offer for the ticket's cell; errors as `of`."""
        plan = self.plan(ticket)
        cell = self._cell(plan, ticket)
        return needs(plan, plan.arm_by_name[cell.arm], plan.task_by_name[cell.task].image)

    def of(self, ticket: Ticket) -> Cast:
        """Give the cast; raise SpecError for options that a plug-in refuses, IntegrityError for wrong bytes."""
        plan = self.plan(ticket)
        cell = self._cell(plan, ticket)
        task, arm = plan.task_by_name[cell.task], plan.arm_by_name[cell.arm]
        parts = self._casts.get_or((ticket.plan, task.id, arm.name), lambda: self._parts(plan, task, arm))
        return Cast(
            plan=plan,
            cell=cell,
            task=task,
            arm=arm,
            lock=parts.lock,
            prompt=parts.prompt,
            instructions=parts.instructions,
            agent=parts.agent,
            program=parts.program,
            oracle=parts.oracle,
            prices=parts.prices,
            guarded=parts.guarded,
            agents=parts.agents,
        )

    def _cell(self, plan: Plan, ticket: Ticket) -> Cell:
        if ticket.cell not in plan.index_by_cell:
            raise IntegrityError(f"the plan of {ticket.sweep!r} holds no cell {ticket.cell!r}")
        return plan.cells[plan.index_by_cell[ticket.cell]]

    def _read_plan(self, ticket: Ticket) -> Plan:
        key = plan_key(ticket.sweep)
        body = self._truth.records.read(key)
        if body is None or Digest.of(body) != ticket.plan:
            raise IntegrityError(f"{key} is missing, or is not the plan with digest {ticket.plan}")
        return parse_record(Plan, body, key)

    def _parts(self, plan: Plan, task: Task, arm: Arm) -> "_Parts":
        instructions = arm.overlay.instructions if arm.overlay is not None else None
        program = self._pinned("programs", arm.program)
        return _Parts(
            lock=cell_lock(plan, task, arm),
            prompt=self._text(task.prompt),
            instructions=self._text(instructions) if instructions is not None else None,
            agent=self._pinned("agents", arm.agent),
            program=program,
            oracle=self._plugins.load("oracles", task.oracle.kind)(task.oracle.options),
            prices=None if plan.prices is None else self._prices(plan.prices),
            guarded=Guarded() if task.setup is None else guarded(task, plan.arms, self._truth.blobs),
            agents={demand: self._demanded(arm.agent, demand) for demand in demands_of(program)},
        )

    def _demanded(self, pin: Pin, demand: Demand) -> Agent:
        agent: Agent = self._plugins.load("agents", pin.name)(demand.merged(pin.options))
        return agent

    def _prices(self, digest: Digest) -> PriceTable:
        return parse_record(PriceTable, self._truth.blobs.get(digest), f"the price table {digest}")

    def _pinned(self, group: PluginGroup, pin: Pin) -> Any:  # noqa: ANN401 (a plug-in keeps its group's protocol)
        found = self._plugins.load(group, pin.name)(pin.options)
        if found.version != pin.version:
            raise TransientError(
                f"this host has {pin.name!r} of the {group} at version {found.version}, "
                f"but the plan pins {pin.version}; install the version of the farm that made the plan"
            )
        return found

    def _text(self, digest: Digest) -> str:
        try:
            return self._truth.blobs.get(digest).decode()
        except UnicodeDecodeError as error:
            raise IntegrityError(f"the text {digest} is not UTF-8: {error}") from error


@dataclass(frozen=True, slots=True)
class _Parts:
    lock: Digest
    prompt: str
    instructions: str | None
    agent: Agent
    program: Program
    oracle: Oracle
    prices: PriceTable | None
    guarded: Guarded
    agents: Mapping[Demand, Agent]


def demands_of(program: Program) -> tuple[Demand, ...]:
    """List what the program's phases ask of their agent."""
    return program.demands if isinstance(program, Demanding) else ()
