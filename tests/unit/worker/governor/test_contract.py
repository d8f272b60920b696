"""What is refused as a contract, and in which words."""

import json
from typing import Any

import pytest

from worker.governor.contract import Bounds, ContractError, read_contract
from worker.governor.coverage import coverage

BOUNDS = Bounds(profiles=("unit",))
CHECK = {"id": "there", "kind": "file_exists", "path": "a.txt"}
CLAIM = {"id": "made", "statement": "It is there.", "importance": "critical", "checks": ["there"]}


def a_contract(**fields: Any) -> bytes:
    return json.dumps({"objective": "Make it.", "claims": [CLAIM], "checks": [CHECK], **fields}).encode()


def test_a_contract_that_states_no_budget_has_that_of_the_arm() -> None:
    contract = read_contract(a_contract(), Bounds(attempts=4, sources=2))
    assert (contract.attempts, contract.claims[0].sources) == (4, 2)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"checks": [{**CHECK, "path": "../a"}]}, r"checks.0.file_exists.path: .*'\.\.'"),
        ({"checks": [{**CHECK, "path": "/etc/passwd"}]}, "checks.0.file_exists.path"),
        ({"checks": [CHECK, CHECK]}, "the id 'there' stands twice"),
        ({"claims": [CLAIM, CLAIM]}, "the id 'made' stands twice"),
        ({"checks": []}, "checks: .*at least 1"),
        ({"claims": []}, "claims: .*at least 1"),
        ({"attempts": 4}, "4 are more than the 3"),
        ({"attempts": 11}, "attempts: .*less than or equal to 10"),
        ({"attempts": True}, "attempts"),
        ({"claims": [{**CLAIM, "checks": ["gone"]}]}, "'made' names the check 'gone'"),
        ({"claims": [{**CLAIM, "checks": ["there", "there"]}]}, "'there' twice"),
        ({"claims": [{**CLAIM, "sources": 11}]}, "sources"),
        ({"checks": [{"id": "j", "kind": "json_equals", "path": "a", "pointer": "b", "value": 1}]}, "no JSON pointer"),
        ({"checks": [{"id": "c", "kind": "file_contains", "path": "a", "text": ""}]}, "text"),
        ({"checks": [CHECK, {"id": "v", "kind": "code_verification_succeeded", "profile": "ls"}]}, "'ls'.*are: unit"),
        ({"checks": [{"id": "t", "kind": "tool_succeeded", "tool": "x", "min_count": 101}]}, "min_count"),
        ({"checks": [{"id": "h", "kind": "human", "path": "a"}]}, "checks.0"),
        ({"objective": ""}, "objective"),
        ({"objective": "x" * 2001}, "objective"),
        ({"more": 1}, "more"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ContractError, match=f"^the contract, .*{says}"):
        read_contract(a_contract(**fields), BOUNDS)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"\xff", b'{"objective": "a", "objective": "b"}', b'{"objective": NaN}', b"[" * 100_000]
    + [a_contract(objective="x").replace(b'"x"', text) for text in (b'"\\ud800"', b"1e999")],
)
def test_what_is_no_strict_json_is_refused(body: bytes) -> None:
    with pytest.raises(ContractError, match=r"^the contract is no"):
        read_contract(body, BOUNDS)


@pytest.mark.parametrize(
    ("verification", "code"),
    [("human-required", "human_required_claim"), ("unsupported", "unsupported_claim")],
)
def test_a_claim_that_no_check_can_bear_out_needs_a_review(verification: str, code: str) -> None:
    found = coverage(read_contract(a_contract(claims=[{**CLAIM, "verification": verification}]), BOUNDS))
    assert (found.status, found.critical_percent) == ("review-required", 0.0)
    assert code in found.finding_codes


def test_coverage_weighs_claims_by_their_importance() -> None:
    bare = {"statement": "S.", "checks": []}
    claims = [CLAIM, {**bare, "id": "i", "importance": "important"}, {**bare, "id": "m", "importance": "minor"}]
    found = coverage(read_contract(a_contract(claims=claims), BOUNDS))
    assert (found.critical_percent, found.weighted_percent) == (100.0, 55.56)
