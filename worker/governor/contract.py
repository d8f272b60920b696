"""A contract: what is to be shown of a task, by which checks, within how many attempts; read strictly.

It is written by the agent, or made from the task's oracle. What is wrong with one is said in one message, which quotes
nothing that is longer than a name.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, StringConstraints, ValidationError

from farm.errors import SpecError
from farm.model import KIB, Value
from worker.checks.file_checks import (
    MOST_TEXT,
    FileAbsent,
    FileContains,
    FileEquals,
    FileExists,
    FileLacks,
    JsonEquals,
)
from worker.documents import DocumentError, one_document
from worker.governor.receipts import canonical, receipt

MOST_ATTEMPTS = 10
MOST_CHECKS = 100
MOST_CONTRACT_BYTES = 512 * KIB
MOST_OBJECTIVE = 2000
MOST_STATEMENT = 1000
_MOST_TOLD = 500

Id: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=128)]
Times: TypeAlias = Annotated[int, Field(strict=True, ge=1, le=100)]
Sources: TypeAlias = Annotated[int, Field(strict=True, ge=1, le=10)]
ToolName: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class ContractError(Exception):
    """The contract can't be opened; the message is for its author."""


class Check(Value):
    """What every check of a contract has."""

    id: Id


class ExistsCheck(Check, FileExists):
    """As the oracle's."""


class AbsentCheck(Check, FileAbsent):
    """As the oracle's."""


class ContainsCheck(Check, FileContains):
    """As the oracle's."""


class LacksCheck(Check, FileLacks):
    """As the oracle's."""


class EqualsCheck(Check, FileEquals):
    """As the oracle's."""


class JsonCheck(Check, JsonEquals):
    """As the oracle's."""


class ToolSucceeded(Check):
    """The agent called the tool with success since the contract was opened."""

    kind: Literal["tool_succeeded"]
    tool: ToolName
    arguments_contain: Annotated[str, StringConstraints(min_length=1, max_length=MOST_TEXT)] | None = None
    min_count: Times = 1


class ToolNotCalled(Check):
    """The agent did not call the tool, with success or without, since the contract was opened."""

    kind: Literal["tool_not_called"]
    tool: ToolName


class NoToolErrors(Check):
    """No call of any tool failed since the contract was opened."""

    kind: Literal["no_tool_errors"]


class VerifierPasses(Check):
    """A command of the task's own, which the governor runs itself, ends with code 0; `min_count` times in a row."""

    kind: Literal["code_verification_succeeded"]
    profile: Id
    min_count: Times = 1


PathCheck: TypeAlias = ExistsCheck | AbsentCheck | ContainsCheck | LacksCheck | EqualsCheck | JsonCheck
ToolCheck: TypeAlias = ToolSucceeded | ToolNotCalled | NoToolErrors
AnyCheck: TypeAlias = Annotated[PathCheck | ToolCheck | VerifierPasses, Field(discriminator="kind")]


class Claim(Value):
    """One sentence that is to hold, and by which checks it is borne out."""

    id: Id
    statement: Annotated[str, StringConstraints(min_length=1, max_length=MOST_STATEMENT)]
    importance: Literal["critical", "important", "minor"]
    verification: Literal["deterministic", "human-required", "unsupported"] = "deterministic"
    checks: Annotated[tuple[Id, ...], Field(max_length=MOST_CHECKS)] = ()
    sources: Sources = 1
    """How many independent ones it needs."""


class Contract(Value):
    """What is to be shown."""

    objective: Annotated[str, StringConstraints(min_length=1, max_length=MOST_OBJECTIVE)]
    claims: Annotated[tuple[Claim, ...], Field(min_length=1, max_length=100)]
    checks: Annotated[tuple[AnyCheck, ...], Field(min_length=1, max_length=MOST_CHECKS)]
    attempts: Annotated[int, Field(strict=True, ge=1, le=MOST_ATTEMPTS)]

    @property
    def receipt(self) -> str:
        return receipt("contract", self.model_dump(mode="json"))


class Bounds(Value):
    """What a contract is held to beyond its form."""

    attempts: int = 3
    """The budget of one that states none, and the most that one may state."""
    profiles: tuple[str, ...] = ()
    """The verifiers that there are."""
    sources: int = 1
    """Of a claim that states none."""


def read_contract(body: bytes, bounds: Bounds) -> Contract:
    """Read what was written as a contract; raise ContractError that says what to correct."""
    try:
        document = one_document(body)
        canonical(document)  # half a character, or a number without an end, can't be written down again
    except (DocumentError, SpecError, RecursionError) as error:
        raise ContractError(f"the contract is not one JSON document: {_short(str(error))}") from error
    if not isinstance(document, dict):
        raise ContractError("the contract is no JSON object; write one with objective, claims, checks and attempts")
    claims = document.get("claims")
    if isinstance(claims, list):
        document["claims"] = [{"sources": bounds.sources, **one} if isinstance(one, dict) else one for one in claims]
    try:
        contract = Contract.model_validate({"attempts": bounds.attempts, **document})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ContractError(f"the contract, {_short(place)}: {_short(first['msg'])}") from error
    for problem in _problems(contract, bounds):
        raise ContractError(f"the contract, {_short(problem)}")
    return contract


def _problems(contract: Contract, bounds: Bounds) -> Iterator[str]:
    if contract.attempts > bounds.attempts:
        yield f"attempts: {contract.attempts} are more than the {bounds.attempts} that may be asked for"
    known = {check.id for check in contract.checks}
    for what, ids in (("checks", [one.id for one in contract.checks]), ("claims", [one.id for one in contract.claims])):
        twice = _twice(ids)
        if twice is not None:
            yield f"{what}: the id {twice!r} stands twice"
    for claim in contract.claims:
        for wanted in claim.checks:
            if wanted not in known:
                yield f"claims: {claim.id!r} names the check {wanted!r}, which there is not"
        if _twice(claim.checks) is not None:
            yield f"claims: {claim.id!r} names the check {_twice(claim.checks)!r} twice"
    for check in contract.checks:
        if isinstance(check, VerifierPasses) and check.profile not in bounds.profiles:
            there = ", ".join(bounds.profiles) or "none"
            yield f"checks: {check.id!r} names the verifier {check.profile!r}; those that there are: {there}"


def _twice(ids: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            return one
        seen.add(one)
    return None


def _short(text: str) -> str:
    return text if len(text) <= _MOST_TOLD else f"{text[:_MOST_TOLD]}…"
