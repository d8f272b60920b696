"""`farm task check`: tasks are proven in the real sandbox before a session is paid for."""

import json
from typing import Any

from tests.builders.farm_command import Desk

BROKEN = """\
  - id: content
    repository: {path: repository}
    prompt: Do it.
    allowed_changes: []
    reference: reference
    oracle: {kind: command, argv: ["true"]}
  - id: says-two
    repository: {path: repository}
    prompt: What is one and one?
    reference: {answer: "2"}
    oracle: {kind: answer, expected: 2}
  - id: sorted
    repository: {path: repository}
    prompt: Sort.
    reference: reference
    oracle: {kind: files, checks: [{kind: file_contains, path: stats.py, text: "sorted(values)"}]}
  - id: refuses
    repository: {path: repository}
    prompt: What is one and one?
    reference: {answer: "2"}
    oracle:
      kind: command
      reads: report
      argv:
        - sh
        - -c
        - |
          echo one and one is three
          echo FARM-FINDING $FARM_NONCE '{"correct": false, "error": "no"}'
  - id: reviewed
    repository: {path: repository}
    prompt: Review it.
    reference: review
    oracle:
      kind: review
      labels:
        findings: [{id: L1, severity: low, path: stats.py, line_start: 1, line_end: 9, category: style}]
arms:
"""
REVIEW = {
    "schema_version": 1,
    "verdict": "comment",
    "findings": [
        {
            "id": "F1",
            "severity": "low",
            "path": "stats.py",
            "line": 2,
            "end_line": 2,
            "category": "style",
            "scenario": "s",
            "evidence": "e",
            "recommendation": "r",
            "blocking": False,
        }
    ],
}


def test_a_task_that_holds_is_told_from_one_that_does_not_and_nothing_is_kept(desk: Desk) -> None:
    assert desk.farm("init", "demo").code == 0
    sweep = desk.here / "demo" / "sweep.yaml"
    before = desk.files()
    proven = desk.farm("task", "check", "demo/sweep.yaml")
    assert proven.code == 0, proven
    assert [line.split()[:6] for line in proven.out.splitlines()[1:]] == [
        ["ok", "fix-median", "wrong,", "wrong", "right,", "right"]
    ]
    assert {path for path in desk.files() - before if not path.startswith(".farm")} == set()

    sweep.write_text(sweep.read_text().replace("arms:\n", BROKEN, 1))
    (sweep.parent / "review").mkdir()
    (sweep.parent / "review" / "review.json").write_text(json.dumps(REVIEW))
    names = ("content", "says-two", "sorted", "refuses", "reviewed")
    ended = desk.farm("task", "check", "demo/sweep.yaml", *names, "--json")
    assert ended.code == 2, ended
    assert ended.error_lines == ["farm: 2 of 5 tasks are not proven: content, refuses"]
    content, says_two, in_order, refuses, reviewed = json.loads(ended.out)["tasks"]
    assert content["problems"] == [
        "the oracle says right when nothing was done; it must look at what the prompt asks for",
        "the reference is outside allowed_changes: stats.py",
    ]
    assert told(says_two) == ("says-two", ["wrong", "wrong"], ["right", "right"], [])
    assert told(in_order) == ("sorted", ["wrong", "wrong"], ["right", "right"], [])
    assert refuses["problems"] == ["the oracle says wrong of the reference: no"]
    assert refuses["output"] == "one and one is three"
    assert told(reviewed) == ("reviewed", ["wrong", "wrong"], ["right", "right"], [])
    assert says_two["times"]["cell_s"] > 0
    assert desk.processes() == []


def told(task: dict[str, Any]) -> tuple[Any, ...]:
    return task["task"], task["nothing"], task["reference"], task["problems"]
