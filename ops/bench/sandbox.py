"""Run `sandbox_costs.py`: spawn and cancel latencies of the sandbox.

    python ops/bench/sandbox.py [SPAWNS [CANCELS]]

The name is also the package's, and Python looks in a script's own folder first. So this file searches the package's
place alone, and gives way to it for a bench beside it that imports `sandbox`.
"""

import importlib
import runpy
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_searched = sys.path[:]
sys.path[:] = [place for place in sys.path if Path(place).resolve() != _HERE]
if __name__ == "__main__":
    runpy.run_path(str(_HERE / "sandbox_costs.py"), run_name="__main__")
else:
    del sys.modules[__name__]
    importlib.import_module(__name__)
    sys.path[:] = _searched
