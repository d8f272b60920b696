"""What was measured yesterday is not paid for again, by the commands that a person types."""

import json

from tests.builders.farm_command import Desk, a_repository

SWEEP = """\
name: weekly
tasks:
  - id: one
    repository: {path: repository, ref: main}
    prompt: Write hello into greeting.txt.
    oracle: {kind: command, files: oracle, argv: [python3, "{hidden}/check.py"]}
trials: 2
arms:
  - {name: baseline, role: incumbent, agent: {kind: scripted, scripts: {one: []}}}
  - {name: candidate, role: candidate, agent: {kind: scripted, scripts: {one: []}}}
"""


def test_a_sweep_is_run_again_with_its_incumbent_taken_over_and_verified_in_another_store(desk: Desk) -> None:
    a_repository(desk.here / "repository", {"README": "Say hello.\n"})
    (desk.here / "oracle").mkdir()
    (desk.here / "oracle" / "check.py").write_text("print('fine')\n")
    (desk.here / "sweep.yaml").write_text(SWEEP)
    assert desk.farm("run", "sweep.yaml", "--slots", "2").code == 0
    (first,) = (desk.here / ".farm/store/sweeps").iterdir()
    told = desk.farm("plan", "sweep.yaml", "--reuse", first.name, "--cells")
    assert told.code == 0, told
    assert "reuse   1 of 4 cells; saves $0.00, and what 1 of unknown cost would" in told.out
    assert "arm baseline: 1 taken over; 1 paid: kept, so that its arm is measured today" in told.out
    assert "one.baseline.2  taken over" in told.out
    (desk.here / "again.yaml").write_text(SWEEP + f"reuse: [{first}]\n")
    again = desk.farm("run", "again.yaml", "--slots", "2", "--store", "elsewhere", "--json")
    assert again.code == 0, again
    (second,) = (desk.here / "elsewhere/sweeps").iterdir()
    outcome = json.loads((second / "attempts/one.baseline.2/1/outcome.json").read_text())
    assert outcome["origin"]["sweep"] == first.name
    assert not (second / "attempts/one.baseline.2/1/claim.json").exists()
    verified = desk.farm("verify", second.name, "--store", "elsewhere")
    assert verified.code == 0, verified
    assert "1 reused" in (second / "report/report.md").read_text()
    unsealed = desk.farm("plan", "sweep.yaml", "--reuse", "weekly-000000000000.1")
    assert (unsealed.code, len(unsealed.error_lines)) == (2, 1), unsealed
