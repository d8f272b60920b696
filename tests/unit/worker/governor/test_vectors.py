"""Receipts, coverage and fidelity, by the vectors of the reliability protocol."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from farm.errors import SpecError
from farm.model import OracleSpec
from tests.builders.worker.sessions import a_task
from worker.governor.contract import Contract
from worker.governor.coverage import coverage
from worker.governor.receipts import canonical, receipt
from worker.governor.reference import forbidden_path, reference_contract

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[3] / "data/contract-vectors.json").read_text())
STATUS = {"ready": "complete", "review-required": "review-required"}
ERRORS = {"missing_critical_claim", "insufficient_independent_sources"}
NAMES = {"checkIds": "checks", "minimumIndependentSources": "sources", "maxAttempts": "attempts"}


def of_kind(kind: str) -> Callable[[Any], Any]:
    chosen = [vector for vector in VECTORS if vector["kind"] == kind]
    assert chosen
    cases = [(vector["input"], vector["expected"]) for vector in chosen]
    return pytest.mark.parametrize(("given", "expected"), cases, ids=[vector["id"] for vector in chosen])


@of_kind("content_receipt")
def test_receipts(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert receipt(given["kind"], given["payload"]) == expected["receipt"]
    if "canonical" in expected:
        assert canonical(given) == expected["canonical"]


def a_check(name: str) -> dict[str, Any]:
    """`file_equals a` as a check of that id."""
    kind, _, where = name.partition(" ")
    check = {"id": name, "kind": kind}
    match kind:
        case "tool_succeeded":
            return {**check, "tool": where}
        case "code_verification_succeeded":
            return {**check, "profile": where}
        case "no_tool_errors":
            return check
        case "file_exists" | "file_absent":
            return {**check, "path": where}
        case _:
            return {**check, "path": where, "text": "x"}


def renamed(given: Any) -> Any:
    if isinstance(given, list):
        return [renamed(one) for one in given]
    return {NAMES.get(key, key): renamed(one) for key, one in given.items()} if isinstance(given, dict) else given


@of_kind("coverage")
def test_coverage(given: dict[str, Any], expected: dict[str, Any]) -> None:
    claims = [{"id": f"c{number}", "statement": "S", **claim} for number, claim in enumerate(given["claims"])]
    names = [name for claim in claims for name in claim["checks"]] + given.get("extraChecks", [])
    document = {"objective": "O", "claims": renamed(claims), "checks": [a_check(one) for one in names], "attempts": 3}
    found = coverage(Contract.model_validate(document))
    assert found.status == STATUS[expected["status"]]
    errors = [code for code in found.finding_codes if code in ERRORS]
    assert errors == expected.get("errorCodes", [])
    if "warningCodes" in expected:
        assert [code for code in found.finding_codes if code not in ERRORS] == expected["warningCodes"]
    if "independentSourceCount" in expected:
        assert found.sources == expected["independentSourceCount"]
    if "critical" in expected:
        assert found.critical_percent == expected["critical"]["percent"]


@of_kind("reference_contract_match")
def test_the_reference_contract_and_what_is_another(given: dict[str, Any], expected: dict[str, Any]) -> None:
    if "referenceCheck" in expected:
        name = given["task"].split()[0]
        options: dict[str, Any] = {"checks": [{"kind": "always_false", "reason": "Nobody can know."}]}
        task = a_task(id=name, oracle=OracleSpec(kind="files", options=options))
        (check,) = reference_contract(task, "T").checks
        assert check.model_dump() == expected["referenceCheck"]
        assert forbidden_path(task) == expected["referenceCheck"]["path"]
        return
    want = renamed(given["expected"])
    options = {"checks": [{key: one for key, one in check.items() if key != "id"} for check in want["checks"]]}
    made = reference_contract(a_task(oracle=OracleSpec(kind="files", options=options)), "T")
    assert made == Contract.model_validate(want)
    weakened = Contract.model_validate({**want, "attempts": 2})
    assert (weakened.receipt == made.receipt) is expected["match"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_has_no_canonical_form_has_no_receipt(value: Any) -> None:
    with pytest.raises(SpecError, match="no canonical form"):
        receipt("test", value)


def test_keys_stand_in_the_order_of_their_code_units_and_whole_numbers_as_such() -> None:
    assert canonical({"\uff5e": 1.0, "\U0001f600": [True, None, 0.5]}) == '{"\U0001f600":[true,null,0.5],"\uff5e":1}'
