"""Cross checks of a sweep: what no single field can be wrong about. Nothing is read or loaded here."""

from collections.abc import Iterator, Sequence

from farm.model import MIB, ArmRole, CellOrder, SweepSpec
from farm.model.arm import MOST_ASSETS
from farm.planning.cells import MOST_CELLS
from farm.planning.problems import Problem

MOST_PROMPT_BYTES = 1 * MIB


def cross_checks(spec: SweepSpec) -> Iterator[Problem]:
    """Yield every way in which the parts of `spec` don't fit together."""
    if not spec.tasks:
        yield Problem(("tasks",), "there is no task; add one, or name a preset")
    if not spec.arms:
        yield Problem(("arms",), "there is no arm; add one, or name a preset that has some")
    yield from _twice("tasks", "id", [task.id for task in spec.tasks])
    yield from _twice("arms", "name", [arm.name for arm in spec.arms])
    yield from _twice("metrics", "name", [metric.name for metric in spec.metrics])
    yield from _twice("gates", "kind", [gate.kind for gate in spec.gates])
    yield from _roles(spec)
    yield from _controls(spec)
    yield from _unsolvable(spec)
    yield from _overlays(spec)
    yield from _assets(spec)
    yield from _containment(spec)
    yield from _dependencies(spec)
    yield from _builds(spec)
    yield from _images(spec)
    yield from _money(spec)
    yield from _ordered(spec)
    cells = len(spec.tasks) * len(spec.arms) * spec.trials
    if cells > MOST_CELLS:
        yield Problem(("trials",), f"{cells} cells are above the {MOST_CELLS} allowed; split the sweep")


def prompt_problem(size: int) -> str | None:
    """Say what is wrong with a prompt of `size` bytes, if anything."""
    if size == 0:
        return "the prompt is empty; write what the agent shall do"
    if size > MOST_PROMPT_BYTES:
        return (
            f"the prompt has {size} bytes, above the {MOST_PROMPT_BYTES} allowed; put long material into the repository"
        )
    return None


def _twice(field: str, key: str, names: Sequence[str]) -> Iterator[Problem]:
    for index, name in enumerate(names):
        first = names.index(name)
        if first < index:
            yield Problem((field, index, key), f"{name!r} is already the {key} of {field}[{first}]; choose another")


def _controls(spec: SweepSpec) -> Iterator[Problem]:
    incumbents = [arm.name for arm in spec.arms if arm.role is ArmRole.INCUMBENT]
    for index, arm in enumerate(spec.arms):
        if not arm.control:
            continue
        if arm.role is not ArmRole.CONTROL:
            yield Problem(("arms", index, "role"), f"an arm with `control: true` has the role control, not {arm.role}")
        if arm.incumbent is None and len(incumbents) != 1:
            known = ", ".join(incumbents) or "none"
            text = f"say which incumbent arm {arm.name!r} repeats (`incumbent:`); the sweep's incumbents are: {known}"
            yield Problem(("arms", index, "control"), text)


def _roles(spec: SweepSpec) -> Iterator[Problem]:
    incumbents = [arm.name for arm in spec.arms if arm.role is ArmRole.INCUMBENT]
    for index, arm in enumerate(spec.arms):
        if arm.incumbent is not None:
            if arm.role is ArmRole.INCUMBENT:
                yield Problem(("arms", index, "incumbent"), "an incumbent is set against nothing; drop the field")
            elif arm.incumbent not in incumbents:
                known = ", ".join(incumbents) or "none"
                text = f"there is no incumbent {arm.incumbent!r}; the sweep's incumbents are: {known}"
                yield Problem(("arms", index, "incumbent"), text)
        elif arm.role is ArmRole.CANDIDATE and len(incumbents) > 1:
            text = f"the sweep has {len(incumbents)} incumbents; say which of them arm {arm.name!r} is set against"
            yield Problem(("arms", index), f"{text}: `incumbent: {incumbents[0]}`")
        if arm.role is ArmRole.CANDIDATE and not incumbents:
            yield Problem(
                ("arms", index, "role"),
                f"arm {arm.name!r} is a candidate without an incumbent; add an incumbent arm or change its role",
            )


def _unsolvable(spec: SweepSpec) -> Iterator[Problem]:
    for index, task in enumerate(spec.tasks):
        if not task.solvable and task.reference is not None:
            text = f"task {task.id!r} is not solvable, so nothing is its reference; drop one of the two fields"
            yield Problem(("tasks", index, "reference"), text)


def _overlays(spec: SweepSpec) -> Iterator[Problem]:
    for index, arm in enumerate(spec.arms):
        overlay = arm.overlay
        if overlay is None:
            continue
        has_files = overlay.files is not None or overlay.base is not None
        if not has_files and not overlay.instructions and overlay.guidance is None:
            yield Problem(("arms", index, "overlay"), "the overlay adds nothing; give it files or instructions")
        if has_files and not overlay.boundary:
            yield Problem(
                ("arms", index, "overlay"), "an overlay with files needs a boundary: globs that every file must match"
            )
        if not has_files and overlay.boundary:
            yield Problem(("arms", index, "overlay", "boundary"), "a boundary without files bounds nothing; drop it")
        if overlay.files is None and overlay.modify_only:
            yield Problem(("arms", index, "overlay", "modify_only"), "there are no files that could modify; drop it")


def _assets(spec: SweepSpec) -> Iterator[Problem]:
    for index, arm in enumerate(spec.arms):
        for name in arm.plugins:
            if name in arm.assets:
                yield Problem(("arms", index, "plugins", name), "there is an asset of that name; choose another")
        if len(arm.assets) + len(arm.plugins) > MOST_ASSETS:
            yield Problem(("arms", index, "plugins"), f"assets and plug-ins are at most {MOST_ASSETS}; take some out")


def _money(spec: SweepSpec) -> Iterator[Problem]:
    yield from _sweep_budget(spec)
    if spec.cell_budget is None:
        return
    if spec.cell_budget.cost_usd is not None and spec.prices is None:
        yield Problem(("cell_budget", "cost_usd"), "a budget of money needs `prices:`, a price table; add one")
    if all(arm.provider is None for arm in spec.arms):
        yield Problem(("cell_budget",), "no arm names a provider, so there is nothing to bound; drop the budget")


def _sweep_budget(spec: SweepSpec) -> Iterator[Problem]:
    """Let no sweep's budget rest on attempts that may use anything."""
    if spec.budget is None:
        return
    for unit in ("cost_usd", "tokens"):
        most, each = getattr(spec.budget, unit), getattr(spec.cell_budget, unit, None)
        if most is not None and each is None:
            yield Problem(
                ("budget", unit), f"an attempt reserves its own budget of it: add `cell_budget: {{{unit}: …}}`"
            )
        elif most is not None and each > most:
            yield Problem(("budget", unit), f"no attempt fits into {most}: `cell_budget` reserves {each} for each")


def _ordered(spec: SweepSpec) -> Iterator[Problem]:
    if spec.order is CellOrder.PACKED and spec.durations is None:
        yield Problem(("order",), "a packed order needs `durations:`, a table of expected durations; add one")
    if spec.order is not CellOrder.SEEDED and spec.seed != 0:
        yield Problem(("seed",), f"the order is {spec.order}, which takes no seed; drop it, or say `order: seeded`")


def _containment(spec: SweepSpec) -> Iterator[Problem]:
    """Let nothing be decided by sessions that nothing contained."""
    if not spec.sandbox.startswith("unsafe"):
        return
    risen = [arm.name for arm in spec.arms if arm.role is ArmRole.CANDIDATE]
    for what in (*(f"gate {gate.kind!r}" for gate in spec.gates), *(f"candidate {name!r}" for name in risen)):
        yield Problem(
            ("sandbox",),
            f"sandbox {spec.sandbox!r} contains nothing, so {what} may not rest on it; drop that, or use bubblewrap",
        )


def _dependencies(spec: SweepSpec) -> Iterator[Problem]:
    """Let no link lead to where a backend mounts nothing."""
    for index, task in enumerate(spec.tasks):
        if (task.dependencies or task.builds) and spec.sandbox == "unsafe-host":
            yield Problem(
                ("tasks", index, "dependencies" if task.dependencies else "builds"),
                f"sandbox {spec.sandbox!r} mounts nothing; bring them as `copies:`, or use bubblewrap",
            )


def _builds(spec: SweepSpec) -> Iterator[Problem]:
    for index, task in enumerate(spec.tasks):
        names = [build.name for build in task.builds]
        for at, name in enumerate(names):
            if name in names[:at]:
                yield Problem(("tasks", index, "builds", at, "name"), f"{name!r} is another build's name already")


def _images(spec: SweepSpec) -> Iterator[Problem]:
    for index, task in enumerate(spec.tasks):
        if task.image is not None and spec.sandbox != "docker":
            yield Problem(
                ("tasks", index, "image"),
                f"an image runs in the docker sandbox, and this sweep's is {spec.sandbox!r}; say `sandbox: docker`, "
                "or drop the image",
            )
