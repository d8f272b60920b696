"""The reference contract: what a task's oracle checks, as a contract that the agent is told to open."""

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from farm.errors import SpecError
from farm.model import Task
from worker.governor.contract import MOST_OBJECTIVE, MOST_STATEMENT, Contract

REFERENCE_ATTEMPTS = 3
"""The budget of every reference contract."""
_FORBIDDEN = "always_false"
ORACLE = "files"
"""The kind of oracle that a contract can be made from."""


def reference_contract(task: Task, prompt: str) -> Contract:
    """Make the contract of a task whose oracle is `files`; raise SpecError for any other oracle."""
    if task.oracle.kind != ORACLE:
        raise SpecError(
            f"task {task.id!r} has the oracle {task.oracle.kind!r}, and a reference contract is made from "
            f"{ORACLE!r} alone; let the model write its contract"
        )
    checks = tuple(_checks(task))
    claim = {
        "id": "reference-outcome",
        "statement": prompt[:MOST_STATEMENT],
        "importance": "critical",
        "verification": "deterministic",
        "checks": [check["id"] for check in checks],
        "sources": 1,
    }
    document = {
        "objective": prompt[:MOST_OBJECTIVE],
        "claims": [claim],
        "checks": checks,
        "attempts": REFERENCE_ATTEMPTS,
    }
    return Contract.model_validate(document)


def forbidden_path(task: Task) -> str | None:
    """Name the file that nobody may create, where nothing solves the task; None: something may."""
    return _evidence_of(task) if any(one.get("kind") == _FORBIDDEN for one in _given(task)) else None


def _checks(task: Task) -> Iterator[dict[str, JsonValue]]:
    for number, given in enumerate(_given(task), 1):
        name: dict[str, JsonValue] = {"id": f"reference-{number}"}
        if given.get("kind") == _FORBIDDEN:
            yield {**name, "kind": "file_exists", "path": _evidence_of(task)}
        else:
            yield {**name, **given}


def _given(task: Task) -> Sequence[dict[str, JsonValue]]:
    checks = task.oracle.options.get("checks")
    return [one for one in checks if isinstance(one, dict)] if isinstance(checks, list) else []


def _evidence_of(task: Task) -> str:
    return f".reliability-evidence/{task.id}.authoritative.json"
