"""Reviews and labels, as documents and as the vectors write them."""

from typing import Any

from worker.oracles.review.document import Finding, Label

_SPANS = {"finding": ("line", "end_line"), "label": ("line_start", "line_end")}


def a_finding(**changes: Any) -> dict[str, Any]:
    finding = {
        "id": "f1",
        "severity": "high",
        "path": "src/a.ts",
        "line": 10,
        "end_line": 12,
        "category": "logic",
        "scenario": "s",
        "evidence": "e",
        "recommendation": "r",
        "blocking": True,
    }
    return finding | changes


def a_label(**changes: Any) -> dict[str, Any]:
    label = {
        "id": "L1",
        "severity": "high",
        "path": "src/a.ts",
        "line_start": 10,
        "line_end": 12,
        "category": "logic",
    }
    return label | changes


def a_review(*findings: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"schema_version": 1, "verdict": "comment", "findings": list(findings)} | changes


def findings_of(documents: list[dict[str, Any]]) -> list[Finding]:
    return [Finding.model_validate(document) for document in documents]


def labels_of(documents: list[dict[str, Any]]) -> list[Label]:
    return [Label.model_validate(document) for document in documents]


def generated(recipe: dict[str, Any]) -> list[dict[str, Any]]:
    """Make findings or labels by a vector's recipe."""
    return [_made(recipe, place) for place in range(recipe["count"])]


def _made(recipe: dict[str, Any], place: int) -> dict[str, Any]:
    turn = (recipe["mul"] * place + recipe["add"]) % recipe["count"]
    start, end = _SPANS[recipe["what"]]
    first = recipe["line_base"] + recipe["line_step"] * turn
    made = {
        "id": f"{recipe['id_prefix']}{place:03}",
        "severity": recipe["severities"][turn % len(recipe["severities"])],
        "path": recipe["paths"][turn % len(recipe["paths"])],
        start: first,
        end: first + recipe["span"] + recipe["span_step"] * turn,
        "category": recipe["categories"][turn % len(recipe["categories"])],
    }
    if recipe["what"] == "label":
        return made
    return made | {
        "scenario": "s",
        "evidence": "e",
        "recommendation": "r",
        "blocking": True,
    }
