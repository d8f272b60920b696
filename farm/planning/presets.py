"""Presets: named families of tasks, metric, gate and budgets that a sweep file builds on."""

from pathlib import Path

from farm.errors import did_you_mean
from farm.model import SweepSpec
from farm.planning import faults, overlay_v4, reliability, workflow_bench
from farm.planning.expanded import Expanded
from farm.planning.problems import Problem, ProblemsError

_PRESETS = {
    faults.NAME: faults.expand,
    overlay_v4.NAME: overlay_v4.expand,
    reliability.NAME: reliability.expand,
    workflow_bench.NAME: workflow_bench.expand,
}


def expand(spec: SweepSpec, folder: Path) -> Expanded:
    """Write out the preset of `spec`, if it names one; raise ProblemsError where the two don't fit."""
    if spec.preset is None:
        return Expanded(spec)
    kind = spec.preset.kind
    if kind not in _PRESETS:
        text = f"there is no preset {kind!r}; {did_you_mean(kind, sorted(_PRESETS))}"
        raise ProblemsError([Problem(("preset", "kind"), text)])
    return _PRESETS[kind](spec, folder)
