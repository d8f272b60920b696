"""What of a hidden check may reach the store: nothing that a candidate's code can have copied from its files."""

import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from farm.model import Cell, FaultKind, OracleSpec, Outcome, Pin, Scope, WorkspaceMode, parse_record
from farm.model.keys import outcome_key
from sandbox.spec import SandboxSpec
from tests.builders.worker.doubles import HookedSandbox
from tests.builders.worker.farm import Farm, a_tar
from tests.builders.worker.working import Make, Run
from worker.tasks import carry

WORD = "the-hidden-word"
CHECK = {"check.sh": f"# {WORD}\n. ./answer.sh\n"}
COPIES = """\
cat "$FARM_HIDDEN/check.sh"
cat "$FARM_HIDDEN/check.sh" >&2
word=$(sed -n 's/^# //p' "$FARM_HIDDEN/check.sh")
touch "./$word"
echo "FARM-FINDING $FARM_NONCE {\\"correct\\": CORRECT, \\"PLACE\\": \\"$word\\", \\"numbers\\": {\\"$word\\": 1}}"
"""


def copying(farm: Make, correct: str, place: str, *, keep_output: bool) -> Farm:
    """A candidate whose code, run by the check, tells the hidden file wherever it can."""
    oracle = OracleSpec(
        kind="command",
        options={"argv": ["sh", "{hidden}/check.sh"], "reads": "report"},
        workspace=WorkspaceMode.WRITABLE,
        keep_output=keep_output,
    )
    text = COPIES.replace("CORRECT", correct).replace("PLACE", place)
    script = {"write": {"path": "answer.sh", "text": text}}
    return farm(script, oracle=oracle, hidden=CHECK, scope=Scope(allowed=("answer.sh",)))


def told(cell: Farm) -> list[bytes]:
    """Everything in the store but the hidden files themselves."""
    blobs = {
        digest: body for digest, body in cell.store.blobs.bodies.items() if digest != cell.plan.tasks[0].oracle.files
    }
    return [*blobs.values(), *(cell.records.read(key) or b"" for key in cell.records.keys(""))]


@pytest.mark.parametrize(("correct", "place"), [("false", "error"), ("null", "problem")])
def test_no_byte_of_a_hidden_test_that_a_candidate_prints_is_in_any_row_or_artifact(
    farm: Make, run: Run, correct: str, place: str
) -> None:
    cell = copying(farm, correct, place, keep_output=False)
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert evidence.oracle.correct is json.loads(correct)
    assert evidence.scope.after_oracle == ("1 more, since the oracle ran",)
    assert [body for body in told(cell) if WORD.encode() in body] == []


def test_a_task_may_ask_for_its_checks_output(farm: Make, run: Run) -> None:
    cell = copying(farm, "false", "error", keep_output=True)
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert (evidence.oracle.answer_error, evidence.oracle.numbers) == (WORD, {WORD: 1})
    assert evidence.scope.after_oracle == (WORD,)
    assert WORD.encode() in cell.artifact("oracle.stdout")
    assert WORD.encode() in cell.artifact("oracle.stderr")


def test_a_hidden_file_that_changes_while_the_check_runs_makes_its_finding_void(farm: Make, run: Run) -> None:
    def tamper(_: int, spec: SandboxSpec) -> None:
        for bind in spec.binds:
            if bind.target.startswith("/cell/.o-"):
                (Path(bind.source) / "check.sh").write_bytes(b"exit 0\n")

    honest = farm()
    oracle = OracleSpec(kind="command", options={"argv": ["sh", "{hidden}/check.sh"]})
    cell = farm(oracle=oracle, hidden={"check.sh": "exit 1\n"}, sandbox=HookedSandbox(honest.sandbox, tamper))
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert (fault.kind, fault.detail) == (
        FaultKind.EVIDENCE,
        "the oracle's hidden files were changed while its check ran; its finding is void",
    )
    assert cell.leftovers() == []


def test_each_task_is_judged_by_its_own_hidden_files_however_tasks_take_turns_in_a_slot(farm: Make) -> None:
    first, names = farm(), ("one", "two")
    tasks = [
        first.plan.tasks[0].model_copy(
            update={
                "id": name,
                "oracle": OracleSpec(
                    kind="command",
                    options={"argv": ["sh", "-c", f'grep -qx {name} label && cmp label "$FARM_HIDDEN/label"']},
                    files=first.blobs.put(a_tar({"label": f"{name}\n"})),
                ),
            }
        )
        for name in names
    ]
    scripts: dict[str, JsonValue] = {name: [{"write": {"path": "label", "text": f"{name}\n"}}] for name in names}
    cells = tuple(Cell(task=name, arm="base", trial=trial) for trial in (1, 2) for name in names)
    cell = farm(
        store=first.store,
        agent=Pin(name="scripted", version="1", options={"scripts": scripts}),
        plan_extra={"tasks": tuple(tasks), "cells": cells},
    )
    line = cell.line()
    try:
        for index, one in enumerate(cells):
            carry(line, cell.ticket.model_copy(update={"cell": one.id, "index": index}))
    finally:
        line.close()
    keys = [outcome_key(cell.sweep, one.id, 1) for one in cells]
    outcomes = [parse_record(Outcome, cell.records.read(key) or b"", key) for key in keys]
    assert [one.evidence and one.evidence.oracle.correct for one in outcomes] == [True] * 4


def test_a_login_profile_that_a_session_left_in_its_home_runs_in_no_check(farm: Make, run: Run) -> None:
    leaves = {"run": {"command": "for f in .profile .bash_profile .bashrc; do echo 'exit 0' >~/$f; done"}}
    oracle = OracleSpec(kind="command", options={"argv": ["bash", "--login", "-c", "exit 3"]})
    cell = farm(leaves, oracle=oracle)
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert evidence.oracle.answer_error == "the check exited with code 3"
