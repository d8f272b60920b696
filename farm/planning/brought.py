"""What a task brings into its workspaces besides its repository: folders and files, captured by their content."""

import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path, PurePosixPath

from farm.errors import SpecError
from farm.model import Base, CopiedAsset, Dependency, Digest, RepositorySpec, SourceSpec, TaskSpec, matches_any
from farm.planning.capture import Captured, capture
from farm.planning.problems import Loc, Problem, ProblemsError

_CACHED = "node_modules"
_CACHE = ".vite-temp"
"""Where Vite writes what it makes of its configuration: beside the packages that it imports."""


@dataclass(frozen=True, slots=True)
class Brought:
    """A task's captured sources, in the order of its fields."""

    dependencies: tuple[Captured, ...] = ()
    copies: tuple[Captured, ...] = ()


@dataclass(frozen=True, slots=True)
class Places:
    """Where sources are found and kept, and what else stands in the workspaces."""

    folder: Path
    """The sweep file's."""
    scratch: Path
    snapshots: Mapping[RepositorySpec, Path]
    """Their tars."""
    overlaid: Mapping[str, tuple[str, ...]]
    """The files of overlays, by arm."""


def bring(tasks: Iterable[tuple[int, TaskSpec]], places: Places) -> dict[str, Brought]:
    """Capture what the tasks, each with its place in the sweep, bring, each source once, below `places.scratch`.

    Raises ProblemsError for what can't be captured, and for what is to stand where something else does.
    """
    bringing = _Bringing(places)
    brought = {task.id: bringing.task(index, task) for index, task in tasks}
    if bringing.problems:
        raise ProblemsError(bringing.problems)
    return brought


@dataclass(slots=True)
class _Bringing:
    places: Places
    problems: list[Problem] = field(default_factory=list)
    captured: dict[tuple[Path, str], Captured] = field(default_factory=dict)

    def task(self, index: int, task: TaskSpec) -> Brought:
        if not task.dependencies and not task.copies and not task.builds:
            return Brought()
        loc: Loc = ("tasks", index)
        self.problems += _collisions(loc, task, self.places)
        dependencies = [
            self._taken((*loc, "dependencies", at), task, one, "") for at, one in enumerate(task.dependencies)
        ]
        copies = [self._taken((*loc, "copies", at), task, one, one.target) for at, one in enumerate(task.copies)]
        return Brought(
            tuple(one for one in dependencies if one is not None), tuple(one for one in copies if one is not None)
        )

    def _taken(self, loc: Loc, task: TaskSpec, one: SourceSpec, below: str) -> Captured | None:
        try:
            source = self._source(task, one)
            captured = self._capture(source, below)
            self._ensure_nothing_hidden(task, one.target, source.resolve(), captured)
        except SpecError as error:
            self.problems.append(Problem((*loc, "source"), str(error)))
            return None
        return captured

    def _capture(self, source: Path, below: str) -> Captured:
        if not below and not source.is_dir():
            raise SpecError(f"{source} is no folder, and a dependency is one; check the path, or use `copies:`")
        if (source, below) not in self.captured:
            target = self.places.scratch / f"brought-{len(self.captured)}.tar"
            self.captured[source, below] = capture(source, target, below)
        return self.captured[source, below]

    def _source(self, task: TaskSpec, one: SourceSpec) -> Path:
        if one.base is Base.SWEEP:
            return self.places.folder / one.source
        repository = task.repository.path
        if repository is None or not (self.places.folder / repository).is_dir():
            raise SpecError(f"{one.source!r} is to be in the repository's folder, and the repository is none")
        root = (self.places.folder / repository).resolve()
        source = (root / one.source).resolve()
        if not source.is_relative_to(root):
            raise SpecError(f"{one.source!r} is not inside the repository; drop what leads out of it")
        return source

    def _ensure_nothing_hidden(self, task: TaskSpec, target: str, source: Path, captured: Captured) -> None:
        """Refuse what judges or solves the task, and what its repository hides, here or by its name in a workspace."""
        hidden, root = task.repository.hidden, self._there(task.repository.path)
        reference = None if task.reference is None else task.reference.files
        apart = [
            folder
            for folder in (self._there(task.oracle.files), self._there(reference))
            if folder is not None and (folder.is_relative_to(source) or source.is_relative_to(folder))
        ]
        for entry in captured.entries if hidden or apart else ():
            place = source / entry.path
            names = [str(PurePosixPath(target) / entry.path)]
            names += [str(place.relative_to(root))] if root is not None and place.is_relative_to(root) else []
            found = next((name for name in names if matches_any(name, hidden)), None)
            if found is not None:
                raise SpecError(f"it brings {found!r}, which the repository hides; take it out")
            if any(place.is_relative_to(folder) for folder in apart):
                raise SpecError(f"it brings {str(place)!r}, of the task's oracle or reference; take it out")

    def _there(self, name: str | None) -> Path | None:
        return None if name is None else (self.places.folder / name).resolve()


def store(
    put: Callable[[Path], Digest], task: TaskSpec, brought: Brought
) -> dict[str, tuple[Dependency | CopiedAsset, ...]]:
    """Store what was captured by `put` and give the fields of the plan's task that pin it."""
    dependencies = zip(task.dependencies, brought.dependencies, strict=True)
    copies = zip(task.copies, brought.copies, strict=True)
    return {
        "dependencies": tuple(
            Dependency(files=put(captured.path), target=one.target, scratch=_scratch(one.target, captured))
            for one, captured in dependencies
        ),
        "copies": tuple(CopiedAsset(files=put(captured.path), target=one.target) for one, captured in copies),
    }


def _scratch(target: str, captured: Captured) -> tuple[str, ...]:
    is_needed = target.rpartition("/")[2] == _CACHED and captured.has_folder(_CACHE)
    return (_CACHE,) if is_needed else ()


def _collisions(loc: Loc, task: TaskSpec, places: Places) -> Iterator[Problem]:
    targets = [
        ((*loc, name, at, "target"), one.target)
        for name, sources in (("dependencies", task.dependencies), ("copies", task.copies))
        for at, one in enumerate(sources)
    ]
    targets += [((*loc, "builds", at, "target"), one.place) for at, one in enumerate(task.builds)]
    for (_, first), (place, second) in combinations(targets, 2):
        if _is_at_or_below(first, second) or _is_at_or_below(second, first):
            yield Problem(place, f"{second!r} overlaps {first!r}, which the task brings too; choose another place")
    for place, target in targets:
        for arm, paths in places.overlaid.items():
            path = _first_at(target, paths, paths)
            if path is not None:
                yield Problem(place, f"{target!r} overlaps {path!r} of arm {arm!r}'s overlay; choose another place")
    made = [
        ((*loc, "builds", at, "output"), one.output) for at, one in enumerate(task.builds) if one.target is not None
    ]
    for place, output in made:
        for one in (*task.dependencies, *task.copies):
            if _is_at_or_below(one.target, output) or _is_at_or_below(output, one.target):
                yield Problem(place, f"{output!r} overlaps {one.target!r}, which the build finds there; choose another")
    yield from _standing([*targets, *made], places.snapshots[task.repository])


def _standing(targets: list[tuple[Loc, str]], snapshot: Path) -> Iterator[Problem]:
    with tarfile.open(snapshot, "r:") as members:
        folders = {member.name: member.isdir() for member in members}
    for place, target in targets:
        path = _first_at(target, folders, (path for path, is_folder in folders.items() if not is_folder))
        if path is not None:
            yield Problem(place, f"{target!r} overlaps {path!r}, which the repository has; choose another place")


def _first_at(target: str, all_paths: Iterable[str], files: Iterable[str]) -> str | None:
    """Give the first path at or below `target`, or the first file that `target` would be below."""
    within = next((path for path in all_paths if _is_at_or_below(path, target)), None)
    return within or next((path for path in files if _is_at_or_below(target, path)), None)


def _is_at_or_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
