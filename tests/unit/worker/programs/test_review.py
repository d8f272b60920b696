"""A review: told its contract, on a workspace that it can't change, with one file to write."""

import json
import re

from tests.builders.worker.sessions import ToldSessions
from worker.programs.review import ReviewProgram


def test_the_reviewer_is_told_the_contract_and_where_to_write() -> None:
    sessions = ToldSessions()
    ReviewProgram({"skill": "reviewing"}).perform("Review it.", sessions)
    (asked,) = sessions.asked
    assert asked.prompt.startswith("Review it.\n\nUse the skill `reviewing`")
    assert "/cell/out/review/review.json" in asked.prompt
    assert "{finding}" not in asked.prompt


def test_the_contracts_example_names_each_key_of_a_finding() -> None:
    sessions = ToldSessions()
    ReviewProgram({}).perform("Review it.", sessions)
    found = re.search(r"^\{.*\}$", sessions.asked[0].prompt, re.MULTILINE)
    assert found is not None
    example = json.loads(found.group())
    assert sorted(example) == ["findings", "schema_version", "verdict"]
    assert sorted(example["findings"][0]) == [
        *("blocking", "category", "end_line", "evidence", "id", "line"),
        *("path", "recommendation", "scenario", "severity"),
    ]


def test_the_workspace_is_sealed_and_the_artifact_lies_outside_it() -> None:
    sessions = ToldSessions()
    ReviewProgram({}).perform("Review it.", sessions)
    phase = sessions.asked[0].phase
    assert not phase.is_writable
    assert phase.fault == "review-evidence-invalid"
    assert phase.artifact is not None
    assert (phase.artifact.role, phase.artifact.path) == ("review", "review/review.json")
    assert phase.artifact.most_bytes == 256 * 1024
    assert phase.work_beside is None
