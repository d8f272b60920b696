"""A candidate's promotion, by the commands that a person types: judged, exported, and held against its records."""

import json

from tests.builders.farm_command import Desk, a_repository

SWEEP = """\
name: promoting
tasks:
  - id: one
    repository: {path: repository, ref: main}
    prompt: Write hello into greeting.txt.
    oracle: {kind: command, files: oracle, argv: [python3, "{hidden}/check.py"]}
trials: 1
gates:
  - {kind: promotion, metric: output_tokens, min_runs: 1}
arms:
  - name: baseline
    role: incumbent
    overlay: {files: skills/before, boundary: ["skills/**"]}
    agent: {kind: scripted, scripts: {one: [{usage: {input_tokens: 9, output_tokens: 100}}]}}
  - name: candidate
    role: candidate
    overlay: {files: skills/after, boundary: ["skills/**"]}
    agent: {kind: scripted, scripts: {one: [{usage: {input_tokens: 9, output_tokens: 95}}]}}
"""


def test_a_candidate_is_promoted_and_its_record_is_held_against_the_sweeps(desk: Desk) -> None:
    a_repository(desk.here / "repository", {"README": "Say hello.\n"})
    for path, text in (
        ("oracle/check.py", "print('fine')\n"),
        ("skills/before/skills/a.md", "old"),
        ("skills/after/skills/a.md", "new"),
    ):
        (desk.here / path).parent.mkdir(parents=True)
        (desk.here / path).write_text(text)
    (desk.here / "sweep.yaml").write_text(SWEEP)

    ran = desk.farm("run", "sweep.yaml", "--slots", "2")
    assert ran.code == 0, ran
    (folder,) = (desk.here / ".farm/store/sweeps").iterdir()
    exported = desk.farm("export", "promotion", folder.name)
    assert exported.code == 0, exported
    record = json.loads(exported.out)
    assert [one["decision"] for one in record["decisions"]] == ["promote"]
    assert list(record["target_base_digests"]) == ["skills/a.md"]

    (desk.here / "promotion.json").write_text(exported.out.replace('"effort":null', '"effort":"high"'))
    other = desk.farm("export", "promotion", folder.name, "--check", "promotion.json")
    assert (other.code, other.out.splitlines()[0]) == (1, "effort-differs: effort: 'high' in the record, None found")
