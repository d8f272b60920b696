"""A governed run in a real sandbox: how it ends, what its attempts say, and what the agent is told."""

import json
from typing import Any

import pytest

from farm.model import NO_SUCCESS_LINE, SUCCESS_LINE, ActionClass, Capture, Governed, OracleSpec, Pin, Terminal
from tests.builders.worker.farm import Farm
from tests.builders.worker.working import Make, Run

CHECKS = [{"kind": "file_contains", "path": "out.txt", "text": "READY"}]
ORACLE = OracleSpec(kind="files", options={"checks": CHECKS})
CLAIM = {"id": "made", "statement": "It is ready.", "importance": "critical", "checks": ["ready"]}
CONTRACT = {"objective": "Fix it.", "claims": [CLAIM], "checks": [{"id": "ready", **CHECKS[0]}], "attempts": 2}
DONE = {"answer": {"text": f"Done.\n{SUCCESS_LINE}"}}
WORKS: dict[str, Any] = {"write": {"path": "out.txt", "text": "READY\n"}}
KEEPS_PROMPT = {"run": {"command": "cat > told.txt"}}


def opens(contract: object = CONTRACT) -> dict[str, Any]:
    command = f"cat > $FARM_OUT/governor/contract.json <<'END'\n{json.dumps(contract)}\nEND"
    return {"run": {"command": command, "must_succeed": True}}


def governed(**options: Any) -> Pin:
    return Pin(name="governed", version="1", options=options)


def found(cell: Farm) -> Governed:
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    assert evidence.governed is not None
    return evidence.governed


def events(cell: Farm) -> list[dict[str, Any]]:
    return [json.loads(line) for line in cell.artifact("governor.jsonl").splitlines()]


def test_what_already_holds_is_certified_at_the_first_stop(farm: Make, run: Run) -> None:
    cell = farm(scripts={"work": [opens(), WORKS, DONE]}, program=governed(), oracle=ORACLE)
    run(cell)
    end = found(cell)
    assert (end.terminal, end.claims_success, end.is_governed) == (Terminal.CERTIFIED, True, True)
    (attempt,) = end.attempts
    assert (attempt.passed, attempt.oracle_passed, attempt.capture) == (True, True, Capture.LIVE)
    assert end.contract is not None
    assert (end.contract.checks, end.contract.attempts, end.contract.matches_reference) == (1, 2, None)
    assert [event["kind"] for event in events(cell)] == ["contract", "attempt", "oracle", "terminal"]
    assert events(cell)[1]["receipt"] == attempt.receipt
    assert cell.leftovers() == []


def test_what_failed_is_told_to_the_session_that_goes_on(farm: Make, run: Run) -> None:
    scripts = {"work": [opens(), DONE], "work-2": [KEEPS_PROMPT, WORKS, DONE]}
    cell = farm(scripts=scripts, program=governed(), oracle=ORACLE)
    run(cell)
    end = found(cell)
    assert end.terminal is Terminal.CERTIFIED
    assert [(one.passed, one.oracle_passed) for one in end.attempts] == [(False, False), (True, True)]
    assert [one.detail for one in end.attempts[0].results] == ["the path is absent"]
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert [session.name for session in evidence.sessions] == ["work", "work-2"]
    patch = cell.artifact("patch").decode()
    assert "Attempt 1 of 2 failed" in patch
    assert "- ready (file_contains): the path is absent" in patch


def test_a_budget_that_is_used_up_ends_the_run(farm: Make, run: Run) -> None:
    cell = farm(scripts={"work": [opens(), DONE], "work-2": [DONE]}, program=governed(), oracle=ORACLE)
    run(cell)
    end = found(cell)
    assert (end.terminal, end.claims_success, len(end.attempts)) == (Terminal.EXHAUSTED, True, 2)
    assert events(cell)[-1]["payload"]["reason"] == "ready: the path is absent"


@pytest.mark.parametrize(
    "abstains",
    [
        {"answer": {"text": f"Nobody can know.\n{NO_SUCCESS_LINE}"}},
        {"run": {"command": "echo Nobody can know. > $FARM_OUT/governor/abstain.txt"}},
    ],
)
def test_who_says_that_it_cant_be_shown_abstains(farm: Make, run: Run, abstains: dict[str, Any]) -> None:
    cell = farm(scripts={"work": [opens(), abstains]}, program=governed(), oracle=ORACLE)
    run(cell)
    end = found(cell)
    assert (end.terminal, end.claims_success, end.attempts) == (Terminal.ABSTAINED, False, ())


def test_without_a_contract_nothing_is_checked(farm: Make, run: Run) -> None:
    cell = farm(scripts={"work": [WORKS, DONE]}, program=governed(), oracle=ORACLE)
    run(cell)
    assert found(cell) == Governed(claims_success=True, is_governed=True)


def test_a_contract_that_is_refused_may_be_corrected(farm: Make, run: Run) -> None:
    scripts = {"work": [opens({**CONTRACT, "attempts": 11}), DONE], "work-2": [KEEPS_PROMPT, opens(), WORKS, DONE]}
    cell = farm(scripts=scripts, program=governed(), oracle=ORACLE)
    run(cell)
    assert found(cell).terminal is Terminal.CERTIFIED
    assert "Your contract was not opened: the contract, attempts" in cell.artifact("patch").decode()


def test_an_open_contract_stays_as_it_is(farm: Make, run: Run) -> None:
    easier = {**CONTRACT, "checks": [{"id": "ready", "kind": "file_exists", "path": "README.md"}]}
    cell = farm(scripts={"work": [opens(), DONE], "work-2": [opens(easier), DONE]}, program=governed(), oracle=ORACLE)
    run(cell)
    assert found(cell).terminal is Terminal.EXHAUSTED


def test_a_session_that_crashes_is_no_stop_and_leaves_its_contract_open(farm: Make, run: Run) -> None:
    cell = farm(scripts={"work": [opens(), WORKS, {"crash": {"code": 3}}]}, program=governed(), oracle=ORACLE)
    run(cell)
    end = found(cell)
    assert (end.terminal, end.attempts) == (Terminal.NONE, ())


def test_the_reference_contract_is_told_word_for_word(farm: Make, run: Run) -> None:
    copies = {
        "run": {
            "command": "tee told.txt | sed -n '/^{\"objective\"/p' > $FARM_OUT/governor/contract.json",
            "must_succeed": True,
        }
    }
    task = {"action": ActionClass.REVERSIBLE}
    program = governed(contract="reference")
    cell = farm(scripts={"work": [copies, WORKS, DONE]}, program=program, oracle=ORACLE, task=task)
    run(cell)
    end = found(cell)
    assert end.terminal is Terminal.CERTIFIED
    assert end.contract is not None
    assert (end.contract.matches_reference, end.contract.attempts) == (True, 3)
    assert end.contract.coverage.status == "complete"
    assert "Change only this workspace" in cell.artifact("patch").decode()


def test_another_contract_than_the_reference_is_no_match(farm: Make, run: Run) -> None:
    program = governed(contract="reference")
    cell = farm(scripts={"work": [opens(), WORKS, DONE]}, program=program, oracle=ORACLE)
    run(cell)
    end = found(cell)
    assert end.terminal is Terminal.CERTIFIED
    assert end.contract is not None
    assert end.contract.matches_reference is False


def test_a_link_in_the_contracts_place_opens_nothing(farm: Make, run: Run) -> None:
    links = {"run": {"command": "ln -s /etc/passwd $FARM_OUT/governor/contract.json"}}
    cell = farm(scripts={name: [links, DONE] for name in ("work", "work-2", "work-3")}, program=governed())
    run(cell)
    end = found(cell)
    assert (end.terminal, end.contract) == (Terminal.NONE, None)
    assert "no regular file" in events(cell)[0]["payload"]["problem"]


def wants(*checks: dict[str, Any]) -> dict[str, Any]:
    claim = {**CLAIM, "checks": [check["id"] for check in checks]}
    return {**CONTRACT, "claims": [claim], "checks": checks}


def calls(name: str, *, succeeds: bool = True, arguments: str = "") -> dict[str, Any]:
    return {"tool": {"name": name, "succeeds": succeeds, "arguments": arguments}}


OPENING_CALL = calls("write", arguments="/cell/out/governor/contract.json")
AFTER = [OPENING_CALL, calls("deploy")]
DEPLOYED = {"id": "deployed", "kind": "tool_succeeded", "tool": "deploy"}


@pytest.mark.parametrize(
    "told",
    [
        [calls("deploy"), OPENING_CALL],
        [OPENING_CALL, calls("deploy"), OPENING_CALL],  # it may have been written in either
        [calls("deploy")],  # and nobody knows when
    ],
)
def test_what_was_called_before_the_contract_is_no_evidence(farm: Make, run: Run, told: list[dict[str, Any]]) -> None:
    early = [*told, opens(wants(DEPLOYED)), DONE]
    cell = farm(scripts={"work": early, "work-2": [calls("deploy"), DONE]}, program=governed())
    run(cell)
    end = found(cell)
    assert [one.passed for one in end.attempts] == [False, True]
    assert end.attempts[0].results[0].detail == "0 of 1 such calls succeeded"


def test_what_was_called_after_the_contract_is_evidence(farm: Make, run: Run) -> None:
    cell = farm(scripts={"work": [*AFTER, opens(wants(DEPLOYED)), DONE]}, program=governed())
    run(cell)
    assert found(cell).terminal is Terminal.CERTIFIED


def test_a_forbidden_call_after_the_contract_fails_every_attempt(farm: Make, run: Run) -> None:
    forbidden = {"id": "never", "kind": "tool_not_called", "tool": "wipe"}
    first = [OPENING_CALL, opens(wants(forbidden)), calls("wipe", succeeds=False), DONE]
    cell = farm(scripts={"work": first, "work-2": [DONE]}, program=governed())
    run(cell)
    assert (found(cell).terminal, len(found(cell).attempts)) == (Terminal.EXHAUSTED, 2)


def test_a_tool_that_failed_for_real_is_an_error(farm: Make, run: Run) -> None:
    clean = {"id": "clean", "kind": "no_tool_errors"}
    first = [OPENING_CALL, opens(wants(clean)), {"tool_run": {"command": "cat missing"}}, WORKS, DONE]
    cell = farm(scripts={"work": first, "work-2": [DONE]}, program=governed(), oracle=ORACLE)
    run(cell)
    end = found(cell)
    assert end.terminal is Terminal.EXHAUSTED
    assert end.attempts[0].results[0].detail == "a call of 'shell' failed"
    assert end.attempts[1].oracle_passed is True


def test_a_verifier_sees_the_workspace_as_it_is_and_changes_nothing(farm: Make, run: Run) -> None:
    tested = {"id": "tested", "kind": "code_verification_succeeded", "profile": "unit"}
    program = governed(verifiers={"unit": ["sh", "-c", "touch mark && grep -q READY out.txt"]})
    scripts = {"work": [opens(wants(tested)), DONE], "work-2": [WORKS, DONE]}
    cell = farm(scripts=scripts, program=program, oracle=ORACLE)
    run(cell)
    assert [one.passed for one in found(cell).attempts] == [False, True]
    assert "mark" not in cell.artifact("patch").decode()


def test_a_file_is_bounded_as_the_oracle_bounds_it(farm: Make, run: Run) -> None:
    oracle = OracleSpec(kind="files", options={"checks": CHECKS, "most_file_bytes": 3})
    cell = farm(scripts={"work": [opens(), WORKS, DONE], "work-2": [DONE]}, program=governed(), oracle=oracle)
    run(cell)
    (first, _) = found(cell).attempts
    assert (first.results[0].detail, first.oracle_passed) == ("the file is larger than 3 bytes", False)
