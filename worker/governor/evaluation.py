"""What a contract's checks come to at one stop of the agent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from farm.model import CheckResult
from worker.checks.file_checks import complaint
from worker.governor.contract import (
    AnyCheck,
    Contract,
    NoToolErrors,
    ToolCheck,
    ToolNotCalled,
    ToolSucceeded,
    VerifierPasses,
)
from worker.phases import ToolCall
from worker.session import Standstill

_UNSEEN = "the agent's calls of tools can't be seen"


@dataclass(frozen=True, slots=True)
class Calls:
    """What the agent has called since its contract, in order. None: its stream does not tell, or not of all."""

    surely: tuple[ToolCall, ...] | None
    """All of these came after it."""
    maybe: tuple[ToolCall, ...] | None
    """None besides these came after it."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Evaluates every check, whatever the others say."""

    still: Standstill
    verifiers: Mapping[str, tuple[str, ...]]
    calls: Calls

    def of(self, contract: Contract) -> tuple[CheckResult, ...]:
        """Give the result of each check, in the contract's order."""
        return tuple(self._result(check) for check in contract.checks)

    def _result(self, check: AnyCheck) -> CheckResult:
        wrong = self._wrong(check)
        return CheckResult(id=check.id, kind=check.kind, passed=wrong is None, detail=wrong or "")

    def _wrong(self, check: AnyCheck) -> str | None:
        match check:
            case VerifierPasses():
                return self._wrong_code(check)
            case ToolSucceeded() | ToolNotCalled() | NoToolErrors():
                return self._wrong_calls(check)
            case _:
                return complaint(check, self.still.look(check.path))

    def _wrong_code(self, check: VerifierPasses) -> str | None:
        for number in range(1, check.min_count + 1):
            if not self.still.verify(self.verifiers[check.profile]):
                return f"the verifier {check.profile!r} failed, at run {number} of {check.min_count}"
        return None

    def _wrong_calls(self, check: ToolCheck) -> str | None:
        surely, maybe = self.calls.surely, self.calls.maybe
        if surely is None or maybe is None:
            return _UNSEEN
        match check:
            case ToolSucceeded():
                found = sum(_is_wanted(call, check) for call in surely)
                return None if found >= check.min_count else f"{found} of {check.min_count} such calls succeeded"
            case ToolNotCalled():
                return "the tool was called" if any(call.name == check.tool for call in maybe) else None
            case NoToolErrors():
                failed = next((call.name for call in maybe if not call.succeeded), None)
                return None if failed is None else f"a call of {failed[:100]!r} failed"
            case _:
                assert_never(check)


def _is_wanted(call: ToolCall, check: ToolSucceeded) -> bool:
    wanted = check.arguments_contain
    return call.succeeded and call.name == check.tool and (wanted is None or wanted in call.arguments)
