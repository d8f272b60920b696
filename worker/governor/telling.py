"""What a governed session is told: of the contract that it opens, and of what failed."""

import json
from collections.abc import Iterable

from farm.model import CheckResult
from worker.governor.contract import Bounds, Contract
from worker.session import OUT

FOLDER = "governor"
CONTRACT = "contract.json"
ABSTAINED = "abstain.txt"
CONTRACT_PATH = f"{OUT}/{FOLDER}/{CONTRACT}"
_ABSTAINED_PATH = f"{OUT}/{FOLDER}/{ABSTAINED}"

_GOVERNED = (
    f"You work under a contract, which you open by writing the file {CONTRACT_PATH} before you begin. Each time you "
    "end your turn, all of its checks are run, and you are told which of them failed; you may then repair, until its "
    "attempts are used up. Once it is open it stays as it is."
)
_ABSTAINING = f"Where it can't be shown at all, write in one sentence why into {_ABSTAINED_PATH}, and end your turn."
_FORM = """\
The contract is one JSON object:
{"objective": "…",
 "claims": [{"id": "…", "statement": "…", "importance": "critical|important|minor",
             "verification": "deterministic|human-required|unsupported", "checks": ["ID", …], "sources": 1}],
 "checks": [{"id": "ID", "kind": "…", …}], "attempts": 3}
Each claim names the checks that bear it out; at least one is critical. Kinds of checks, each with its id:
{"kind": "file_exists", "path": P}, {"kind": "file_absent", "path": P}, {"kind": "file_contains", "path": P, "text": T},
{"kind": "file_not_contains", "path": P, "text": T}, {"kind": "file_equals", "path": P, "text": T},
{"kind": "json_equals", "path": P, "pointer": "/key", "value": V},
{"kind": "tool_succeeded", "tool": N, "arguments_contain": T, "min_count": 1}, {"kind": "tool_not_called", "tool": N},
{"kind": "no_tool_errors"}, {"kind": "code_verification_succeeded", "profile": V, "min_count": 1}.
Paths are relative to the workspace. Calls of tools count from the writing of the contract on."""


def model_opening(bounds: Bounds) -> str:
    """Ask for a contract of the agent's own."""
    verifiers = ", ".join(bounds.profiles) or "none"
    limits = f"It may ask for {bounds.attempts} attempts at most. Profiles of verification: {verifiers}."
    return f"{_GOVERNED}\n\n{_FORM}\n\n{limits}\n\n{_ABSTAINING}"


def reference_opening(contract: Contract, forbidden: str | None) -> str:
    """Tell the contract that is to be opened, word for word."""
    text = json.dumps(contract.model_dump(mode="json"), ensure_ascii=False)
    told = (_GOVERNED, f"Open exactly this contract, as it stands here:\n{text}")
    if forbidden is None:
        return "\n\n".join((*told, _ABSTAINING))
    order = f"Do not create {forbidden}: it stands for evidence that only others could give."
    return "\n\n".join((*told, order, _ABSTAINING))


def refusal(problem: str) -> str:
    """Tell why the contract was not opened."""
    return f"Your contract was not opened: {problem}\nCorrect {CONTRACT_PATH}, and go on with the task."


def repair(results: Iterable[CheckResult], number: int, budget: int) -> str:
    """Tell every check that failed."""
    failed = "\n".join(f"- {one.id} ({one.kind}): {one.detail}" for one in results if not one.passed)
    return (
        f"Attempt {number} of {budget} failed. These checks of your contract do not hold:\n{failed}\n"
        f"Repair what is wrong, and end your turn with one of the two lines again. {_ABSTAINING}"
    )
