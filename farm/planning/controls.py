"""Arms that are their incumbent once more, to show what noise alone makes: they must differ in nothing else."""

from collections.abc import Iterator, Sequence

from farm.model import ArmRole, ArmSpec
from farm.planning.inputs import ArmInput
from farm.planning.problems import Problem


def unlike_controls(specs: Sequence[ArmSpec], read: Sequence[ArmInput]) -> Iterator[Problem]:
    """Name what sets an arm that says `control: true` apart from its incumbent, once what the arms name was read."""
    incumbents = [arm.name for arm in specs if arm.role is ArmRole.INCUMBENT]
    treatments = {arm.name: _treatment(arm, one) for arm, one in zip(specs, read, strict=True)}
    for index, arm in enumerate(specs):
        if not arm.control:
            continue
        incumbent = arm.incumbent or incumbents[0]
        other = treatments[incumbent]
        unlike = [name for name, value in treatments[arm.name].items() if value != other[name]]
        if unlike:
            text = f"arm {arm.name!r} is a control of {incumbent!r} and differs from it in {', '.join(unlike)}"
            yield Problem(("arms", index, "control"), f"{text}; make it the same, or drop `control`")


def _treatment(arm: ArmSpec, read: ArmInput) -> dict[str, object]:
    """List all that an arm does to a cell, by the field that says it."""
    overlay = None
    if arm.overlay is not None and read.overlay is not None:
        laid = read.overlay.laid
        files = None if laid is None else laid.tar
        overlay = (files, read.overlay.instructions, arm.overlay.boundary, arm.overlay.guidance)
    return {
        "agent": read.agent,
        "program": (read.program, read.sessions),
        "provider": arm.provider,
        "overlay": overlay,
        "assets": read.assets,
        "plugins": {name: plugin.version for name, plugin in arm.plugins.items()},
        "labels": read.requires,
    }
