"""What a governor recorded of a run: the claim, the contract, and each attempt at it."""

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from farm.model.base import Value

Receipt = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
"""Of content: who has the content can make it again. It signs nothing."""

SUCCESS_LINE = "BENCHMARK_OUTCOME: COMPLETE"
"""What the last line of an answer must be, to claim success."""
NO_SUCCESS_LINE = "BENCHMARK_OUTCOME: NOT_COMPLETE"
"""What it is to be otherwise."""
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


class Terminal(StrEnum):
    """How a governor ends a run."""

    CERTIFIED = "certified"
    """Every check passed."""
    EXHAUSTED = "exhausted"
    """Checks still failed when the budget of attempts was used up."""
    ABSTAINED = "abstained"
    """The agent said that it can't be shown."""
    NONE = "none"
    """No contract was opened, or it was left open."""


class Capture(StrEnum):
    """How near to its attempt the oracle's word on it was taken."""

    LIVE = "live"
    """The workspace was that attempt's."""
    COALESCED = "coalesced_backfill"
    """A newer attempt had been made when it was looked at."""
    TERMINAL = "terminal_backfill"
    """It was seen only after the end."""


class CheckResult(Value):
    """What one check of a contract came to."""

    id: str
    kind: str
    passed: bool
    detail: str = ""
    """Why it failed, in our own words: nothing of the file stands in it."""


class AttemptRecord(Value):
    """One stop of the agent at which its contract was checked."""

    number: Annotated[int, Field(ge=1)]
    trigger: Literal["turn-stop", "manual"] = "turn-stop"
    passed: bool
    results: tuple[CheckResult, ...]
    oracle_passed: bool | None = None
    """The hidden oracle's word on the same workspace, which the agent never sees; None: it was not asked."""
    capture: Capture = Capture.LIVE
    receipt: Receipt


class Coverage(Value):
    """How far a contract's checks bear its claims out. It judges what was declared, not what was left out."""

    status: Literal["complete", "review-required"]
    critical_percent: float
    weighted_percent: float
    sources: int
    """Independent ones."""
    finding_codes: tuple[str, ...] = ()
    receipt: Receipt


class ContractRecord(Value):
    """The contract that was opened, as far as it is judged; its text is an artifact."""

    receipt: Receipt
    checks: int
    attempts: int
    """Its budget."""
    matches_reference: bool | None = None
    """Whether it is, in every field, the one that the agent was told; None: it was told none."""
    coverage: Coverage


class Governed(Value):
    """What is known of the claim of a run, and of its governor when it had one."""

    claims_success: bool
    """The last line of its last answer is the marker of success."""
    is_governed: bool = False
    contract: ContractRecord | None = None
    attempts: tuple[AttemptRecord, ...] = ()
    terminal: Terminal = Terminal.NONE


def claims_success(answer: str) -> bool:
    """Say whether an answer's last line is the marker of success, but for colours and blanks behind it."""
    return _last_line(answer) == SUCCESS_LINE


def denies_success(answer: str) -> bool:
    """Say whether it is the other marker."""
    return _last_line(answer) == NO_SUCCESS_LINE


def _last_line(answer: str) -> str:
    lines = _ESCAPES.sub("", answer).rstrip().splitlines()
    return lines[-1].rstrip() if lines else ""
