"""The bench of the farm's own cost still runs; its figures are for people and other days."""

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "ops" / "bench" / "cells.py"


def test_the_bench_measures_cells_celery_and_bubblewrap_in_one_run() -> None:
    options = ("--cells", "8", "--slots", "2", "--repetitions", "1", "--json")
    ran = subprocess.run((sys.executable, BENCH, *options), capture_output=True, text=True, check=False)
    assert ran.returncode in {0, 1}, ran.stderr
    report = json.loads(ran.stdout)
    assert len(report["rounds"]) == 1
    assert min(report["celery_tasks_per_s"], report["celery_cpu_ms"], report["bwrap_pair_cpu_ms"]) > 0
