"""What an attempt used, as its outcome tells."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from farm.model import (
    CellId,
    Digest,
    DoorReport,
    Fault,
    FaultKind,
    ModelUse,
    Origin,
    Outcome,
    ScopeFinding,
    SessionReport,
    SweepId,
    TokenUse,
)
from tests.builders.sweeps import evidence

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def door(*totals: int | None) -> DoorReport:
    """Meter one model for each number of tokens."""
    uses = (TokenUse(whole=None if total is None else total - 1, output=1) for total in totals)
    models = tuple(ModelUse(model=f"m{n}", requests=1, tokens=use) for n, use in enumerate(uses))
    return DoorReport(provider="acme", origin="https://acme.example", models=models)


def ended(doors: tuple[DoorReport, ...] | None, *, sessions: tuple[DoorReport | None, ...] = ()) -> Outcome:
    """End an attempt by a fault with `doors`, or with evidence of `sessions` at these doors."""
    found = evidence()
    (session,) = found.sessions
    reports = tuple(SessionReport(**(dict(session) | {"door": one})) for one in sessions)
    return Outcome(
        sweep=SweepId("s"),
        plan=Digest("0" * 64),
        cell=CellId("t.a.1"),
        attempt=1,
        host="h",
        holder="h/1",
        started_at=NOW,
        ended_at=NOW,
        evidence=found.model_copy(update={"sessions": reports}) if sessions else None,
        fault=None if sessions else Fault(kind=FaultKind.HOST, detail="broken"),
        doors=doors,
    )


@pytest.mark.parametrize(
    ("outcome", "tokens"),
    [
        (ended(None, sessions=(door(10, 5), door(7))), 22),
        (ended(None, sessions=(door(10), door(None))), None),
        (ended(None, sessions=(door(10), None)), None),
        (ended((door(10), door(3))), 13),
        (ended(()), 0),
        (ended(None), None),
    ],
)
def test_an_attempt_s_tokens_are_its_doors_and_unknown_where_one_is(outcome: Outcome, tokens: int | None) -> None:
    assert outcome.tokens == tokens


def test_what_a_fault_cost_is_its_doors_too() -> None:
    assert ended(()).cost_usd == Decimal(0)
    assert ended(None).cost_usd is None


def test_evidence_of_a_change_outside_the_scope_is_no_answer_and_a_wrong_answer_is_one() -> None:
    strayed = evidence().model_copy(update={"scope": ScopeFinding(after_oracle=("a.py",))})

    assert not strayed.is_sound
    assert evidence(correct=False).is_sound


def test_what_was_taken_over_says_nothing_against_todays_measuring() -> None:
    crashed = ended(None, sessions=(None,))
    report = crashed.evidence.sessions[0].model_copy(update={"reason": "crashed"}) if crashed.evidence else None
    broken = crashed.model_copy(update={"evidence": evidence().model_copy(update={"sessions": (report,)})})
    origin = Origin(sweep=SweepId("old"), attempt=1, outcome=Digest("0" * 64), measured_at=NOW)

    assert not broken.is_sound
    assert broken.model_copy(update={"origin": origin}).is_sound
