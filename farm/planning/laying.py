"""What an arm lays over a workspace: within its boundary, and with an effect in every task.

A candidate that is byte for byte its incumbent would be paid for and measure nothing.
"""

import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from farm.errors import SpecError
from farm.model import ArmRole, ArmSpec, OverlaySpec, matches_any
from farm.planning import tar
from farm.planning.folder import folder_contents


@dataclass(frozen=True, slots=True)
class Laid:
    """An overlay's files by path: the arm's own, and those that it has in common with its incumbent."""

    own: Mapping[str, tar.Content]
    base: Mapping[str, tar.Content]

    @property
    def tar(self) -> bytes:
        """Pack all of them; of two at one path the arm's own."""
        return b"".join(tar.write({**self.base, **self.own}.values()))


def lay(overlay: OverlaySpec, folder: Path) -> Laid | None:
    """Read the overlay's folders, relative to `folder`; None when it names none. Raises SpecError."""
    if overlay.files is None and overlay.base is None:
        return None
    own, base = (
        {} if name is None else _inside(folder / name, overlay.boundary) for name in (overlay.files, overlay.base)
    )
    return Laid(own, base)


def overlay_problems(arm: ArmSpec, laid: Laid, snapshots: Mapping[str, Path]) -> Iterator[str]:
    """Say what is wrong with an arm's overlay in the tasks whose snapshots' tars are given by the tasks' names."""
    overlay = arm.overlay
    if overlay is None or not laid.own:
        return
    is_idle_wrong = arm.role is ArmRole.CANDIDATE and not overlay.instructions
    if not (overlay.modify_only or is_idle_wrong):
        return
    for task, snapshot in snapshots.items():
        standing = {**_standing(snapshot, laid.own), **laid.base}
        new = sorted(laid.own.keys() - standing.keys())
        if new and overlay.modify_only:
            yield f"{new[0]!r} stands neither in the base nor in task {task!r}, and the overlay is modify_only"
        elif is_idle_wrong and all(standing.get(path) == content for path, content in laid.own.items()):
            yield f"its files are what stands in task {task!r} already, byte for byte: it would measure nothing there"


def _inside(folder: Path, boundary: tuple[str, ...]) -> dict[str, tar.Content]:
    contents = [content for content in folder_contents(folder) if content.entry.kind is tar.EntryKind.FILE]
    outside = [content.entry.path for content in contents if not matches_any(content.entry.path, boundary)]
    if outside:
        more = f" and {len(outside) - 1} more" if len(outside) > 1 else ""
        raise SpecError(
            f"{outside[0]!r}{more} of {folder} is outside the boundary {list(boundary)}; widen it or drop it"
        )
    return {content.entry.path: content for content in contents}


def _standing(snapshot: Path, wanted: Mapping[str, tar.Content]) -> dict[str, tar.Content]:
    """Read those of the `wanted` paths that are regular files of a snapshot."""
    found: dict[str, tar.Content] = {}
    with tarfile.open(snapshot, "r:") as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isreg() and member.name in wanted else None
            if stream is not None:
                entry = tar.Entry(member.name, tar.EntryKind.FILE, member.size, bool(member.mode & 0o100))
                found[member.name] = tar.Content(entry, stream.read())
    return found
