"""farm plan."""

from pathlib import Path

import click
from pydantic import JsonValue

from farm import drafting
from farm.cli.common import answer, expensive_option, json_option, reuse_option, store_option
from farm.cli.registering import (
    cost_document,
    cost_lines,
    registering,
    registering_options,
    registration_document,
    registration_lines,
)
from farm.cli.reused import clock_text, reuse_document, reuse_lines
from farm.cli.served import lacking_now
from farm.coordinator.mandate import Mandate
from farm.model import Plan, needs
from farm.planning.schedule import Simulation, simulate

_MOST_SLOTS = 100_000


def describe(plan: Plan) -> list[str]:
    """Say in a few lines what the plan would run."""
    size = f"{len(plan.tasks)} tasks, {len(plan.arms)} arms, {plan.trials} trials of each"
    lines = [f"{plan.name}: {len(plan.cells)} cells ({size})", f"plan    {plan.digest}"]
    lines += [
        f"task    {task.id}  at commit {task.snapshot.commit[:12]}, oracle {task.oracle.kind}"
        + ("" if task.image is None else f", image {task.image}")
        for task in plan.tasks
    ]
    lines += [f"skipped {task}: it is expensive; --expensive runs it" for task in plan.skipped]
    lines += [f"arm     {arm.name}  {arm.role}, agent {arm.agent.name} {arm.agent.version}" for arm in plan.arms]
    lines += [f"gate    {gate.name} {gate.version}" for gate in plan.gates] or [
        "gate    none: no verdict will be given"
    ]
    lines += [f"window  {window}" for window in plan.windows]
    most = Mandate().budget_of(plan).words
    lines += [f"budget  {most}"] if most else []
    lines += [f"needs   arm {arm.name}: {', '.join(sorted(needs(plan, arm, None)))}" for arm in plan.arms]
    if not plan.cells:
        lines.append("nothing would run: the gate will say why")
    return lines


def _timed(simulation: Simulation, plan: Plan) -> list[str]:
    """Say how long the cells would take; what stands beside the plan's own order is for comparison."""
    bound_s = simulation.bound_s
    lines = [f"time    on {simulation.slots} slots, {simulation.cells} cells; no order is under {clock_text(bound_s)}"]
    if simulation.guessed:
        lines.append(f"        {simulation.guessed} of them taken at their limit: no duration is known")
    times = {str(order): lasts_s for order, lasts_s in simulation.orders.items()} | {"waves": simulation.waves_s}
    for name, lasts_s in times.items():
        over = f"  {100 * (lasts_s / bound_s - 1):.1f} % above" if bound_s else ""
        lines.append(
            f"        {name:<11}{clock_text(lasts_s):>10}{over}{'  (this plan)' if name == plan.order else ''}"
        )
    return lines


def _simulation_document(simulation: Simulation) -> JsonValue:
    return {
        "slots": simulation.slots,
        "cells": simulation.cells,
        "guessed": simulation.guessed,
        "bound_s": simulation.bound_s,
        "orders": {str(order): lasts_s for order, lasts_s in simulation.orders.items()},
        "waves_s": simulation.waves_s,
    }


@click.command(name="plan", epilog="Example:  farm plan sweep.yaml --cells")
@click.argument("sweep_file", type=click.Path(path_type=Path))
@click.option("--cells", is_flag=True, help="Also list every cell in the order in which it would start.")
@click.option("--simulate", "simulated", is_flag=True, help="Also say how long it would take, in each order.")
@click.option("--slots", type=click.IntRange(1, _MOST_SLOTS), help="Of the fleet that is simulated; 1 if left out.")
@expensive_option
@registering_options
@reuse_option
@store_option
@json_option
def command(  # noqa: PLR0913 (the options of a verb)
    sweep_file: Path,
    *,
    cells: bool,
    simulated: bool,
    slots: int | None,
    expensive: bool,
    lock: Path | None,
    max_tasks: int | None,
    trials: int | None,
    priors: tuple[str, ...],
    reuse: tuple[str, ...],
    store: str | None,
    as_json: bool,
) -> None:
    """Show what a sweep would run, without running or storing anything."""
    asked = registering(lock, max_tasks, trials, priors)
    draft = drafting.draft_plan(sweep_file, expensive=expensive, reuse=reuse, store=store, registering=asked)
    plan, selection = draft.plan, draft.reuse.selection
    lines = [*describe(plan), *registration_lines(draft), *cost_lines(draft.cost), *reuse_lines(selection, plan)]
    simulation = simulate(plan, slots or 1, plan.reused_indices) if simulated or slots else None
    lacking = lacking_now(plan)
    lines += [f"missing {sentence}" for sentence in lacking]
    if cells:
        lines += [
            f"{index:>6}  {cell.id}{'  taken over' if cell.id in plan.reused else ''}"
            for index, cell in enumerate(plan.cells)
        ]
    lines += [] if simulation is None else _timed(simulation, plan)
    document: dict[str, JsonValue] = {
        "digest": str(plan.digest),
        "cell_count": len(plan.cells),
        "missing": list(lacking),
        "reuse": reuse_document(selection),
        "cost": cost_document(draft.cost),
        "preregistration": registration_document(draft),
        "plan": plan.model_dump(mode="json"),
    }
    if simulation is not None:
        document["simulation"] = _simulation_document(simulation)
    answer(document, lines, as_json=as_json)
