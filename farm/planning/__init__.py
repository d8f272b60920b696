"""From a sweep file to a plan: load, admit, freeze. `plan_sweep` is the whole of it."""

from farm.planning.freeze import freeze, plan_sweep
from farm.planning.ports import PluginSource

__all__ = ["PluginSource", "freeze", "plan_sweep"]
