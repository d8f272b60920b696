"""How far a contract's checks bear its claims out: the sources behind each claim, counted once each.

It judges what was declared, not what was left out, and blocks nothing: it is there for who reads the results.
"""

import posixpath
from collections.abc import Iterable, Iterator
from typing import assert_never

from pydantic import JsonValue

from farm.model import Coverage
from worker.governor.contract import (
    AnyCheck,
    Claim,
    ContainsCheck,
    Contract,
    ExistsCheck,
    LacksCheck,
    NoToolErrors,
    PathCheck,
    ToolNotCalled,
    ToolSucceeded,
    VerifierPasses,
)
from worker.governor.receipts import receipt

_WEIGHTS = {"critical": 5, "important": 3, "minor": 1}
_ERRORS = frozenset(
    {"missing_critical_claim", "human_required_claim", "unsupported_claim", "insufficient_independent_sources"}
)


def coverage(contract: Contract) -> Coverage:
    """Say how well the contract's claims are covered, and what is doubtful about them."""
    checks = {check.id: check for check in contract.checks}
    codes = tuple(dict.fromkeys(_findings(contract, checks)))
    used = [checks[wanted] for claim in contract.claims for wanted in claim.checks]
    critical = [claim for claim in contract.claims if claim.importance == "critical"]
    facts: dict[str, JsonValue] = {
        "status": "complete" if _ERRORS.isdisjoint(codes) else "review-required",
        "critical_percent": _percent(critical, checks),
        "weighted_percent": _percent(contract.claims, checks),
        "sources": len(_sources(used)),
        "finding_codes": list(codes),
    }
    return Coverage.model_validate({**facts, "receipt": receipt("coverage", {"contract": contract.receipt, **facts})})


def _findings(contract: Contract, checks: dict[str, AnyCheck]) -> Iterator[str]:
    if not any(claim.importance == "critical" for claim in contract.claims):
        yield "missing_critical_claim"
    for claim in contract.claims:
        yield from _errors(claim, checks)
    yield "declared_claims_only"
    for claim in contract.claims:
        yield from _doubts([checks[wanted] for wanted in claim.checks])
    if not checks.keys() <= {wanted for claim in contract.claims for wanted in claim.checks}:
        yield "orphan_check"


def _errors(claim: Claim, checks: dict[str, AnyCheck]) -> Iterator[str]:
    match claim.verification:
        case "human-required":
            yield "human_required_claim"
        case "unsupported":
            yield "unsupported_claim"
        case "deterministic":
            if not _is_covered(claim, checks):
                yield "insufficient_independent_sources"
        case _:
            assert_never(claim.verification)


def _doubts(own: list[AnyCheck]) -> Iterator[str]:
    if own and all(isinstance(check, ExistsCheck | ContainsCheck) for check in own):
        yield "presence_only_evidence"
    if any(isinstance(check, ContainsCheck | LacksCheck) for check in own):
        yield "exact_literal_brittleness"


def _is_covered(claim: Claim, checks: dict[str, AnyCheck]) -> bool:
    found = _sources(checks[wanted] for wanted in claim.checks)
    return claim.verification == "deterministic" and len(found) >= claim.sources


def _percent(claims: Iterable[Claim], checks: dict[str, AnyCheck]) -> float:
    weights = [(_WEIGHTS[claim.importance], _is_covered(claim, checks)) for claim in claims]
    total = sum(weight for weight, _ in weights)
    return round(100 * sum(weight for weight, covered in weights if covered) / total, 2) if total else 0.0


def _sources(checks: Iterable[AnyCheck]) -> set[str]:
    return {_source(check) for check in checks}


def _source(check: AnyCheck) -> str:
    """Name where a check looks: two that look at the same place are one source, whatever they ask of it."""
    match check:
        case VerifierPasses():
            return f"verifier {check.profile}"
        case ToolSucceeded() | ToolNotCalled() | NoToolErrors():
            return "tools"
        case _:
            return _path_source(check)


def _path_source(check: PathCheck) -> str:
    return f"path {posixpath.normpath(check.path)}"
