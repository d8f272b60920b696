"""Presets: named families of tasks, metric, gate and budgets that a sweep file builds on."""

from dataclasses import dataclass
from pathlib import Path

from farm.model import SweepSpec
from farm.planning.problems import Problem, ProblemsError


@dataclass(frozen=True, slots=True)
class Expanded:
    """A sweep without a preset: all of it written out."""

    spec: SweepSpec
    has_cells: bool = True
    """False when a hypothesis was found unsupported before anything was run."""
    has_plain_repositories: bool = False
    """Whether repositories are plain folders of ours, without git."""


def expand(spec: SweepSpec, folder: Path) -> Expanded:
    """Write out the preset of `spec`, if it names one; raise ProblemsError where the two don't fit."""
    if spec.preset is not None:
        raise ProblemsError([Problem(("preset", "kind"), f"no preset {spec.preset.kind!r} below {folder}")])
    return Expanded(spec)
