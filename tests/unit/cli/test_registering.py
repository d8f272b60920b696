from decimal import Decimal

import pytest

from farm.cli.registering import cost_lines, ensure_may_run, registration_lines
from farm.drafting import Draft
from farm.errors import SpecError
from farm.model import LockPin, PilotSize, Preregistration, SourceState
from farm.planning.forecast import Forecast
from tests.builders.gates import a_digest, a_plan

LOCK = LockPin(id="first", digest=a_digest("lock"))
PILOT = PilotSize(tasks=1, of_tasks=2, trials=1, of_trials=5)
COST = Forecast(runs=300, asking=300, most_usd=Decimal(90), expected_usd=Decimal("41.5"))


def a_draft(known: Preregistration | None, objections: tuple[str, ...] = ()) -> Draft:
    plan = a_plan() if known is None else a_plan().with_preregistration(known)
    return Draft(plan, (), cost=COST, objections=objections)


def test_a_sweep_without_a_lock_needs_no_confirmation() -> None:
    ensure_may_run(a_draft(None), confirmed=False)
    ensure_may_run(a_draft(Preregistration(pilot=PILOT)), confirmed=False)


@pytest.mark.parametrize("pilot", [None, PILOT])
def test_whoever_does_not_confirm_the_cost_is_told_runs_and_money_and_refused(
    pilot: PilotSize | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SpecError, match="nobody confirmed the cost of 300 runs; say --confirm-cost"):
        ensure_may_run(a_draft(Preregistration(lock=LOCK, pilot=pilot)), confirmed=False)
    assert capsys.readouterr().err == "cost    300 runs, 300 of which ask a provider: about $41.50; at most $90.00\n"


def test_a_confirmed_cost_is_said_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    ensure_may_run(a_draft(Preregistration(lock=LOCK)), confirmed=True)
    assert "300 runs" in capsys.readouterr().err


def test_every_objection_is_named_though_the_cost_was_confirmed() -> None:
    draft = a_draft(Preregistration(lock=LOCK), ("a.txt is changed", "the branch has no upstream"))
    with pytest.raises(SpecError) as refused:
        ensure_may_run(draft, confirmed=True)
    assert "  a.txt is changed\n  the branch has no upstream" in str(refused.value)


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (Forecast(runs=4), "$0.00"),
        (
            Forecast(4, 4, None, Decimal(0), 4),
            "no budget in dollars bounds it; what to expect is unknown (--prior names a sweep to go by)",
        ),
        (Forecast(4, 4, Decimal(9), Decimal(2), 1), "about $2.00, and what 1 of unknown cost will; at most $9.00"),
    ],
)
def test_what_nobody_knows_of_the_cost_is_said(cost: Forecast, words: str) -> None:
    (line,) = cost_lines(cost)
    assert line.endswith(f" ask a provider: {words}")


def test_a_plan_without_a_lock_says_nothing_of_one() -> None:
    assert list(registration_lines(a_draft(None))) == []


def test_a_pilot_says_what_it_can_and_cannot_show() -> None:
    lines = list(registration_lines(a_draft(Preregistration(lock=LOCK, pilot=PILOT))))
    assert lines == [
        f"lock    first {LOCK.digest}: nothing differs",
        "pilot   1 of 2 tasks, 1 trials in place of 5: no gate passes; one may fail, or find harm",
    ]


def test_a_lock_that_nobody_can_see_is_said() -> None:
    source = SourceState(commit="c" * 40, is_clean=False)
    lines = list(registration_lines(a_draft(Preregistration(lock=LOCK, source=source), ("push it",))))
    assert lines[1:] == [f"source  commit {'c' * 40}, upstream none, not clean", "refused push it"]
