"""A governor at work: it stands between an agent's turns, opens the contract, runs its checks, and says when to end.

Every stop is noted before anything follows from it. The agent is told which of its own checks failed, and never what
the oracle says.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from farm.model import (
    AttemptRecord,
    ContractRecord,
    Governed,
    SessionReport,
    Terminal,
    claims_success,
    denies_success,
)
from worker.governor import telling
from worker.governor.contract import MOST_CONTRACT_BYTES, Bounds, Contract, ContractError, read_contract
from worker.governor.coverage import coverage
from worker.governor.evaluation import Calls, Evaluation
from worker.governor.receipts import receipt
from worker.phases import PhaseEnd, ToolCall
from worker.session import ArtifactProblem, Standstill

MOST_REFUSALS = 2
"""How often a contract may be corrected: it is told so many times what is wrong with it."""
_MOST_REASON_BYTES = 2000
_CONTRACT = f"{telling.FOLDER}/{telling.CONTRACT}"
_ABSTAINED = f"{telling.FOLDER}/{telling.ABSTAINED}"


@dataclass(frozen=True, slots=True)
class Terms:
    """What the governor is given."""

    bounds: Bounds
    verifiers: Mapping[str, tuple[str, ...]]
    reference: Contract | None
    """What the agent was told to open; None: nothing."""


@dataclass(slots=True)
class Governor:
    """Governs one run."""

    terms: Terms
    still: Standstill
    contract: Contract | None = None
    attempts: list[AttemptRecord] = field(default_factory=list)
    terminal: Terminal | None = None
    _reports: list[SessionReport] = field(default_factory=list)
    _calls: Calls = field(default_factory=lambda: Calls((), ()))
    _refusals: int = 0

    def stop(self, end: PhaseEnd) -> str | None:
        """Take a session's end, and give what its next turn is told; None: the run is at its end.

        A session that was ended, or that gave no answer, is no stop of the agent: nothing is checked there.
        """
        self._reports.append(end.report)
        if not end.report.exit.is_zero or end.report.final_answer is None:
            self._end(Terminal.NONE, "the session ended without a stop of the agent")
            return None
        if self.contract is None:
            opened = self._open(end.calls)
            if self.contract is None:
                return opened
        else:
            self._calls = _more(self._calls, end.calls)
        if self._abstains(end.report.final_answer):
            self._end(Terminal.ABSTAINED, "the agent says that it can't be shown")
            return None
        return self._attempt(self.contract)

    def governed(self) -> Governed:
        """Say what came of the run."""
        answer = self._reports[-1].final_answer if self._reports else None
        return Governed(
            claims_success=claims_success(answer or ""),
            is_governed=True,
            contract=None if self.contract is None else self._record(self.contract),
            attempts=tuple(self.attempts),
            terminal=self.terminal or Terminal.NONE,
        )

    def _record(self, contract: Contract) -> ContractRecord:
        reference = self.terms.reference
        return ContractRecord(
            receipt=contract.receipt,
            checks=len(contract.checks),
            attempts=contract.attempts,
            matches_reference=None if reference is None else reference.receipt == contract.receipt,
            coverage=coverage(contract),
        )

    def _open(self, calls: tuple[ToolCall, ...] | None) -> str | None:
        body = self.still.artifact(_CONTRACT, MOST_CONTRACT_BYTES)
        if body is ArtifactProblem.NEVER_WRITTEN:
            self._end(Terminal.NONE, "no contract was written")
            return None
        try:
            self.contract = _read(body, self.terms.bounds)
        except ContractError as error:
            self._note("refused", {"problem": str(error)})
            self._refusals += 1
            if self._refusals > MOST_REFUSALS:
                self._end(Terminal.NONE, str(error))
                return None
            return telling.refusal(str(error))
        self._calls = _since(calls)
        self._note("contract", self.contract.model_dump(mode="json"))
        return None

    def _abstains(self, answer: str) -> bool:
        said = self.still.artifact(_ABSTAINED, _MOST_REASON_BYTES)
        return said is not ArtifactProblem.NEVER_WRITTEN or denies_success(answer)

    def _attempt(self, contract: Contract) -> str | None:
        number = len(self.attempts) + 1
        results = Evaluation(self.still, self.terms.verifiers, self._calls).of(contract)
        passed = all(result.passed for result in results)
        payload: dict[str, JsonValue] = {
            "contractId": contract.receipt,
            "attempt": number,
            "trigger": "turn-stop",
            "passed": passed,
            "results": [
                {"id": one.id, "kind": one.kind, "passed": one.passed, "evidence": one.detail} for one in results
            ],
        }
        noted = self._note("attempt", payload)
        right = self.still.judge(tuple(self._reports))
        self._note("oracle", {"attempt": number, "passed": right, "capture": "live"})
        self.attempts.append(
            AttemptRecord(number=number, passed=passed, results=results, oracle_passed=right, receipt=noted)
        )
        if passed:
            self._end(Terminal.CERTIFIED, "every check passed")
            return None
        if number >= contract.attempts:
            self._end(Terminal.EXHAUSTED, "; ".join(f"{one.id}: {one.detail}" for one in results if one.detail))
            return None
        return telling.repair(results, number, contract.attempts)

    def _end(self, terminal: Terminal, reason: str) -> None:
        self.terminal = terminal
        payload: dict[str, JsonValue] = {"status": terminal.value, "reason": reason}
        if self.contract is not None:
            payload["contractId"] = self.contract.receipt
        if self.attempts:
            payload["attemptReceipt"] = self.attempts[-1].receipt
        self._note("terminal", payload)

    def _note(self, kind: str, payload: JsonValue) -> str:
        made = receipt(kind, payload)
        line = json.dumps({"kind": kind, "payload": payload, "receipt": made}, ensure_ascii=False)
        self.still.note(f"{line}\n".encode())
        return made


def _read(body: bytes | ArtifactProblem, bounds: Bounds) -> Contract:
    if isinstance(body, ArtifactProblem):
        raise ContractError(f"of {telling.CONTRACT_PATH}, {body}")
    return read_contract(body, bounds)


def _since(calls: tuple[ToolCall, ...] | None) -> Calls:
    """Tell what came after the contract was written, by the calls that name its file; it may have been in any of them.

    Where none names it, nothing surely came after it, and everything may have.
    """
    if calls is None:
        return Calls(None, None)
    naming = [place for place, call in enumerate(calls) if telling.CONTRACT in call.arguments]
    if not naming:
        return Calls((), calls)
    return Calls(calls[naming[-1] + 1 :], calls[naming[0] :])


def _more(before: Calls, calls: tuple[ToolCall, ...] | None) -> Calls:
    if calls is None or before.surely is None or before.maybe is None:
        return Calls(None, None)
    return Calls(before.surely + calls, before.maybe + calls)
