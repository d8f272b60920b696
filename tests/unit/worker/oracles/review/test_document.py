"""Reviews as bytes: every rule has its own message."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders.worker.reviews import a_finding, a_review
from worker.oracles.review.document import MOST_BYTES, ReviewError, read_review

_VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[4] / "data/review-artifact-vectors.json").read_text()
)
_MESSAGES = {
    "not_bounded_regular_file": "it is larger than 262144 bytes",
    "empty": "it is empty",
    "not_utf8": "it is not UTF-8",
    "not_json": "it is not one JSON document",
    "object": "it is no JSON object",
    "keys": ("findings: Field required", "summary: Extra inputs"),
    "schema_version": (
        "schema_version: Input should be less than or equal to 1",
        "schema_version: Input should be a valid integer",
    ),
    "verdict": "verdict: Input should be 'approve', 'comment' or 'request_changes'",
    "findings": "findings: Input should be a valid tuple",
    "finding_keys": "findings[0].evidence: Field required",
    "line": "findings[0].line: Input should be",
    "blocking": "findings[0].blocking: Input should be a valid boolean",
    "path": "findings[0].path: is no path below the repository",
    "duplicate_id": "findings: the id 'f1' stands twice",
    "approve_with_findings": "the verdict is approve, yet there are findings",
    "request_changes_without_blocking": "the verdict is request_changes, yet no finding is blocking",
    "scenario_too_long": "findings[0].scenario: is longer than 4096 bytes",
    "category_too_long": "findings[0].category: is longer than 128 bytes",
    "path_too_long": "findings[0].path: is longer than 512 bytes",
}


def body_of(file: dict[str, Any]) -> bytes:
    if "base64" in file:
        return base64.b64decode(file["base64"])
    text: str = file["text"]
    for name, fill in file.get("fill", {}).items():
        text = text.replace(f"@{name}@", fill["unit"] * fill["count"])
    if "repeat_finding" in file:
        repeat = file["repeat_finding"]
        copies = (repeat["template"].replace("@i@", str(place)) for place in range(repeat["count"]))
        text = text.replace("@findings@", ",".join(copies))
    return text.encode().ljust(file.get("pad_with_spaces_to_bytes", 0))


_FILES = [vector for vector in _VECTORS if vector["input"]["file"]["state"] == "regular"]


@pytest.mark.parametrize("vector", _FILES, ids=lambda vector: str(vector["id"]))
def test_19_a_review_is_read_or_refused_as_documented(vector: dict[str, Any]) -> None:
    body, expected = body_of(vector["input"]["file"]), vector["expected"]
    if expected["valid"]:
        assert len(read_review(body).findings) == expected["findings"]
        return

    with pytest.raises(ReviewError) as refused:
        read_review(body)

    assert str(refused.value).startswith(_MESSAGES[expected.get("violates", expected["error"])])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"\xff\xfe{}", "it is not UTF-8: invalid start byte at byte 0"),
        (b'{"verdict": 1, "verdict": 2}', "it is not one JSON document: the key 'verdict' stands twice"),
        (b'{"a": NaN}', "it is not one JSON document: NaN is no JSON number"),
        (b"[" * 100_000, "it is not one JSON document: nested too deeply"),
        (b" " * (MOST_BYTES + 1), "it is larger than 262144 bytes"),
        (
            json.dumps(a_review(*(a_finding(id=str(number)) for number in range(101)))).encode(),
            "findings: Tuple should have at most 100 items after validation, not",
        ),
        (
            json.dumps(a_review(a_finding(end_line=9))).encode(),
            "findings[0]: end_line 9 is before line 10",
        ),
        (
            json.dumps(a_review(a_finding(severity="urgent"))).encode(),
            "findings[0].severity: Input should be 'critical', 'high', 'medium' or 'low'",
        ),
        (json.dumps(a_review(a_finding(extra=1))).encode(), "findings[0].extra: Extra inputs are not permitted"),
        (json.dumps(a_review(a_finding(id=7))).encode(), "findings[0].id: Input should be a valid string"),
        (json.dumps(a_review(a_finding(id="\ud800"))).encode(), "findings[0].id: "),
        (json.dumps(a_review(a_finding(path="./"))).encode(), "findings[0].path: is no path below"),
    ],
)
def test_19_each_rule_has_a_message_of_its_own(body: bytes, message: str) -> None:
    with pytest.raises(ReviewError) as refused:
        read_review(body)

    assert str(refused.value).startswith(message)


def test_a_path_is_compared_by_its_parts_and_a_category_in_lower_case() -> None:
    found = a_finding(path=".\\src\\\\a.ts", category="LOGIC")

    (finding,) = read_review(json.dumps(a_review(found)).encode()).findings

    assert (finding.path, finding.category) == ("src/a.ts", "logic")
