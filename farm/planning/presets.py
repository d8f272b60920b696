"""Presets: named families of tasks, metric, gate and budgets that a sweep file builds on."""

import difflib
from pathlib import Path

from farm.model import SweepSpec
from farm.planning import overlay_v4
from farm.planning.expanded import Expanded
from farm.planning.problems import Problem, ProblemsError

_PRESETS = {overlay_v4.NAME: overlay_v4.expand}


def expand(spec: SweepSpec, folder: Path) -> Expanded:
    """Write out the preset of `spec`, if it names one; raise ProblemsError where the two don't fit."""
    if spec.preset is None:
        return Expanded(spec)
    kind = spec.preset.kind
    if kind not in _PRESETS:
        near = difflib.get_close_matches(kind, _PRESETS, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        text = f"there is no preset {kind!r}; {hint}known are: {', '.join(sorted(_PRESETS))}"
        raise ProblemsError([Problem(("preset", "kind"), text)])
    return _PRESETS[kind](spec, folder)
