"""A careful person's umask keeps their files from others, and a root worker's slots are others."""

import os

from tests.builders.farm_command import Desk, a_repository

SWEEP = """\
name: careful
tasks:
  - id: greet
    repository: {path: .}
    prompt: Write hello into greeting.txt.
    oracle: {kind: command, argv: [grep, -qx, hello, greeting.txt]}
arms:
  - {name: plain, role: incumbent, agent: {kind: command, argv: [sh, -c, "echo hello > greeting.txt; echo done"]}}
  - {name: other, role: candidate, agent: {kind: command, argv: [sh, -c, "echo hello > greeting.txt; echo done"]}}
metrics: [{name: seconds, source: session, key: duration_s}]
gates: [{kind: overlay, metric: seconds}]
"""


def test_a_sweep_runs_and_passes_under_a_closed_umask(desk: Desk) -> None:
    a_repository(desk.here, {"README": "Any repository.\n"})
    (desk.here / "sweep.yaml").write_text(SWEEP)
    before = os.umask(0o077)
    try:
        ran = desk.farm("run", "sweep.yaml", env={"FARM_WORK_ROOT": str(desk.scratch / "root")})
    finally:
        os.umask(before)
    assert ran.code == 0, ran
