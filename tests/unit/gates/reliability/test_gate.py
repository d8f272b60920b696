"""The reliability gate over whole settled tables."""

from collections.abc import Callable

import pytest

from farm.errors import SpecError
from farm.gates.protocol import Judgement
from farm.gates.reliability import ReliabilityGate
from farm.gates.table import Row, Table
from farm.model import Decision, ExitKind, Fault, FaultKind, Preregistration, Terminal, canonical_json
from farm.planning.reliability import BASELINE, MODEL, REFERENCE
from tests.builders.gates import an_exit
from tests.builders.live_histories import HISTORIES, REGISTERED, a_plan, a_table, inconclusive, proven

GATE = ReliabilityGate()
POLICY = GATE.policy({"replicates": 500}, ())
DECISIONS = {"PROVEN": Decision.PASS, "HARMFUL": Decision.FAIL, "INCONCLUSIVE": Decision.INCONCLUSIVE}
FIRST = f"create-basic-artifact.{MODEL}.1"


def judged(table: Table) -> Judgement:
    return GATE.judge(table, POLICY)


def changed(table: Table, cell: str, change: Callable[[Row], Row]) -> Table:
    rows = tuple(change(row) if row.cell == cell else row for row in table.rows)
    return table.model_copy(update={"rows": rows})


def lost(row: Row) -> Row:
    fault = Fault(kind=FaultKind.HOST, detail="the host went away")
    return row.model_copy(update={"fault": fault, "oracle": None, "sessions": (), "governed": None})


def with_governed(**changes: object) -> Callable[[Row], Row]:
    def change(row: Row) -> Row:
        assert row.governed is not None
        return row.model_copy(update={"governed": row.governed.model_copy(update=changes)})

    return change


def failing(found: Judgement) -> set[str]:
    return {check.name for check in found.checks if not check.holds}


@pytest.mark.parametrize("ruling", HISTORIES)
def test_a_history_is_judged_as_it_was_written(ruling: str) -> None:
    found = judged(a_table(HISTORIES[ruling]))
    assert (found.decision, found.findings["ruling"]) == (DECISIONS[ruling], ruling)
    assert found.summary.startswith(f"{ruling}: ")


def test_the_same_table_gives_the_same_bytes() -> None:
    one, other = judged(a_table(proven)), judged(a_table(proven))
    assert canonical_json(one) == canonical_json(other)


@pytest.mark.parametrize(
    "registered",
    [None, REGISTERED.model_copy(update={"source": None})],
)
def test_nothing_is_proven_that_was_not_locked_and_published(registered: Preregistration | None) -> None:
    found = judged(a_table(proven, a_plan(registered)))
    assert found.decision is Decision.INCONCLUSIVE
    assert "committed-and-published" in failing(found)


def test_one_run_that_was_not_measured_leaves_nothing_to_prove() -> None:
    found = judged(changed(a_table(proven), FIRST, lost))
    assert found.decision is Decision.INCONCLUSIVE
    check = next(check for check in found.checks if check.name == "runs-measured")
    assert (check.threshold, check.observed, check.holds) == (300, 299, None)
    assert FIRST in check.note
    assert "1 runs were not measured" in found.summary


def test_an_oracle_that_said_nothing_is_a_run_that_was_not_measured() -> None:
    def silent(row: Row) -> Row:
        assert row.oracle is not None
        return row.model_copy(update={"oracle": row.oracle.model_copy(update={"correct": None})})

    assert judged(changed(a_table(proven), FIRST, silent)).findings["missing"] == [FIRST]


def test_a_false_certification_shows_harm_though_a_run_is_missing() -> None:
    table = changed(a_table(HISTORIES["HARMFUL"]), f"create-basic-artifact.{BASELINE}.5", lost)
    found = judged(table)
    assert found.decision is Decision.FAIL
    assert "no-model-certifies-falsely" in failing(found)
    assert found.findings["false_certifications"]["count"] == 1


def test_more_false_successes_among_the_runs_that_there_are_show_no_harm_while_one_is_missing() -> None:
    table = a_table(inconclusive)
    claims = f"subjective-universal-proof.{MODEL}.1"
    table = changed(table, claims, with_governed(claims_success=True))
    assert judged(table).decision is Decision.FAIL

    assert judged(changed(table, f"create-basic-artifact.{BASELINE}.5", lost)).decision is Decision.INCONCLUSIVE


@pytest.mark.parametrize("exit_", [an_exit(ExitKind.EXITED, 1), an_exit(ExitKind.LIMIT), an_exit(ExitKind.SIGNALED)])
def test_a_session_that_did_not_end_by_itself_leaves_nothing_to_prove(exit_) -> None:
    def ends(row: Row) -> Row:
        return row.model_copy(update={"sessions": (row.sessions[0].model_copy(update={"exit": exit_}),)})

    found = judged(changed(a_table(proven), FIRST, ends))
    assert found.decision is Decision.INCONCLUSIVE
    assert failing(found) == {"operational-failures"}


def test_a_run_without_a_session_is_an_operational_failure() -> None:
    found = judged(changed(a_table(proven), FIRST, lambda row: row.model_copy(update={"sessions": ()})))
    assert failing(found) == {"operational-failures"}


def test_a_run_that_opened_no_contract_stays_in_every_denominator() -> None:
    table = changed(a_table(proven), FIRST, with_governed(contract=None, attempts=(), terminal=Terminal.NONE))
    part = judged(table).findings["parts"]["model"]
    assert (part["adoption"]["count"], part["adoption"]["of"]) == (99, 100)
    assert part["false_exhaustion"]["of"] == 80


def test_a_contract_that_is_not_the_one_that_was_told_is_a_miss() -> None:
    cell = f"create-basic-artifact.{REFERENCE}.1"

    def other(row: Row) -> Row:
        assert row.governed is not None
        assert row.governed.contract is not None
        contract = row.governed.contract.model_copy(update={"matches_reference": False})
        return row.model_copy(update={"governed": row.governed.model_copy(update={"contract": contract})})

    fidelity = judged(changed(a_table(proven), cell, other)).findings["parts"]["reference"]["fidelity"]
    assert (fidelity["count"], fidelity["of"]) == (99, 100)


def test_a_claim_of_success_by_an_exhausted_run_that_was_right_is_shown_as_a_contradiction() -> None:
    table = changed(a_table(proven), FIRST, with_governed(terminal=Terminal.EXHAUSTED, claims_success=True))
    (run,) = judged(table).findings["contradictions"]["runs"]
    assert (run["cell"], run["oracle_passed"], run["claims_success"]) == (FIRST, True, True)


def test_every_false_rejection_is_listed_with_what_failed() -> None:
    table = changed(a_table(proven), FIRST, with_governed(claims_success=False))
    listed = judged(table).findings["false_rejections"]
    assert listed["count"] == 1
    assert listed["runs"][0] | {"receipt": None} == {
        "cell": FIRST,
        "part": "model",
        "terminal": "certified",
        "oracle_passed": True,
        "claims_success": False,
        "attempts": 2,
        "failed_checks": [],
        "receipt": None,
    }


def test_right_runs_are_drawn_for_a_look_and_the_seed_draws_them_again() -> None:
    table = a_table(proven)
    drawn = judged(table).findings["successes_to_look_at"]
    assert len(drawn) == 10
    assert drawn == judged(table).findings["successes_to_look_at"]
    other = GATE.judge(table, GATE.policy({"replicates": 500, "seed": 1}, ())).findings["successes_to_look_at"]
    assert drawn != other


def test_checks_are_credited_by_kind() -> None:
    kinds = judged(a_table(proven)).findings["check_attribution"]["model"]
    absent = kinds["file_absent"]
    assert absent["exposed_runs"] > absent["failed_runs"] > 0
    assert absent["exposures"] > absent["failures"] >= absent["failed_runs"]


def test_repairs_that_turned_wrong_into_right_are_counted() -> None:
    repairs = judged(a_table(proven)).findings["repairs"]["model"]
    assert (repairs["rescues"], repairs["regressions"], repairs["broken_after_certification"]) == (30, 0, 0)


def test_a_plan_without_the_arms_is_not_judged() -> None:
    found = GATE.judge(a_table(proven), GATE.policy({"parts": {"model": "other"}}, ()))
    assert found.decision is Decision.INCONCLUSIVE
    assert "the plan holds no arm other" in found.summary


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"alpha": 2}, "gate reliability: alpha: "),
        ({"parts": {"model": "baseline"}}, "must be three arms"),
        ({"nonsense": 1}, "gate reliability: nonsense: "),
    ],
)
def test_options_that_are_wrong_are_named(options, told: str) -> None:
    with pytest.raises(SpecError, match=told):
        GATE.policy(options, ())
