"""farm plan."""

from pathlib import Path

import click
from pydantic import JsonValue

from farm import bootstrap
from farm.cli.common import answer, json_option
from farm.coordinator.mandate import Mandate
from farm.errors import TransientError
from farm.model import Plan, needs, unserved


def describe(plan: Plan) -> list[str]:
    """Say in a few lines what the plan would run."""
    size = f"{len(plan.tasks)} tasks, {len(plan.arms)} arms, {plan.trials} trials of each"
    lines = [f"{plan.name}: {len(plan.cells)} cells ({size})", f"plan    {plan.digest}"]
    lines += [
        f"task    {task.id}  at commit {task.snapshot.commit[:12]}, oracle {task.oracle.kind}"
        + ("" if task.image is None else f", image {task.image}")
        for task in plan.tasks
    ]
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


def _unserved(plan: Plan) -> tuple[str, ...]:
    """Say which arms no living host of the team's queue can run; nothing where none is named."""
    settings = bootstrap.read_settings()
    if settings.redis_url is None:
        return ()
    try:
        return tuple(unserved(plan, bootstrap.connect(settings.redis_url).hosts.live()))
    except TransientError as error:
        return (f"which hosts live is not known: {error}",)


@click.command(name="plan", epilog="Example:  farm plan sweep.yaml --cells")
@click.argument("sweep_file", type=click.Path(path_type=Path))
@click.option("--cells", is_flag=True, help="Also list every cell in the order in which it would start.")
@json_option
def command(sweep_file: Path, *, cells: bool, as_json: bool) -> None:
    """Show what a sweep would run, without running or storing anything."""
    plan = bootstrap.draft_plan(sweep_file).plan
    lines = describe(plan)
    lacking = _unserved(plan)
    lines += [f"missing {sentence}" for sentence in lacking]
    if cells:
        lines += [f"{index:>6}  {cell.id}" for index, cell in enumerate(plan.cells)]
    document: dict[str, JsonValue] = {
        "digest": str(plan.digest),
        "cell_count": len(plan.cells),
        "missing": list(lacking),
        "plan": plan.model_dump(mode="json"),
    }
    answer(document, lines, as_json=as_json)
