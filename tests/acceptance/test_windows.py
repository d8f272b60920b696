"""`farm run` outside a sweep's time windows."""

from tests.builders.farm_command import Desk, a_repository

OPEN = 6
SWEEP = """\
name: night
windows: ["2999-01-01T00:00Z/2999-01-02T00:00Z"]
tasks:
  - id: nap
    repository: {path: repository}
    prompt: Write done into nap.txt.
    oracle: {kind: command, argv: [test, -f, nap.txt]}
arms:
  - name: baseline
    role: incumbent
    agent: {kind: scripted, scripts: {nap: [{answer: {text: done}}]}}
"""


def test_outside_its_windows_a_sweep_stays_open_with_an_exit_code_of_its_own(desk: Desk) -> None:
    (desk.here / "repository").mkdir()
    a_repository(desk.here / "repository", {"README": "A repository.\n"})
    (desk.here / "sweep.yaml").write_text(SWEEP)
    ran = desk.farm("run", "sweep.yaml", "--slots", "1")
    assert ran.code == OPEN, ran
    assert "deferred cells: 1; they wait for a time window that leaves them time enough" in ran.err
    assert "the next opens at 2999-01-01 00:00 UTC" in ran.err
    (folder,) = (desk.here / ".farm/store/sweeps").iterdir()
    assert f"{folder.name} is open; go on with:  farm resume {folder.name}" in ran.err
    assert sorted(path.name for path in folder.iterdir()) == ["open.json", "plan.json"]
    assert "outside its time windows; the next opens at 2999-01-01 00:00 UTC" in desk.farm("status", folder.name).out
