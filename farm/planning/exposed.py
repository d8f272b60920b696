"""What an arm's sessions would see that judges a task: refused before anything is paid for."""

from collections.abc import Iterator
from pathlib import Path

from farm.model import ArmSpec, SweepSpec
from farm.planning.problems import Loc, Problem


def exposed_oracles(spec: SweepSpec, folder: Path) -> Iterator[Problem]:
    """Name each folder of an arm that holds, or lies in, the folder of a task's hidden files.

    A task's reference is no secret of that kind: an arm may carry it, as a control that must be right.
    """
    hidden = [(task.id, (folder / task.oracle.files).resolve()) for task in spec.tasks if task.oracle.files is not None]
    for index, arm in enumerate(spec.arms):
        for loc, name in _folders(arm):
            place = (folder / name).resolve()
            task = next((one for one, at in hidden if at.is_relative_to(place) or place.is_relative_to(at)), None)
            if task is not None:
                text = f"{name!r} holds files of the oracle of task {task!r}, which no session may see; take them out"
                yield Problem(("arms", index, *loc), text)


def _folders(arm: ArmSpec) -> Iterator[tuple[Loc, str]]:
    for name, asset in arm.assets.items():
        yield ("assets", name), asset
    for name, plugin in arm.plugins.items():
        yield ("plugins", name), plugin.folder
    if arm.overlay is not None:
        for field, place in (("files", arm.overlay.files), ("base", arm.overlay.base)):
            if place is not None:
                yield ("overlay", field), place
