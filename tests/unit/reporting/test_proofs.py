"""What is said of a task whose cells were run with nothing done and with its reference."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from farm.model import (
    ActionClass,
    CheckRun,
    Evidence,
    ExitKind,
    Fault,
    FaultKind,
    OracleFinding,
    Outcome,
    ProcessExit,
    ScopeFinding,
)
from farm.reporting.proofs import Proof, Times, proof_of
from tests.builders.gates import a_digest, a_session, a_task

AT = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)


def ended(code: int, wall_s: float = 1.0) -> ProcessExit:
    return ProcessExit(kind=ExitKind.EXITED, code=code, wall_s=wall_s)


def an_outcome(correct: bool = True, fault: Fault | None = None, **changes: Any) -> Outcome:
    proven: dict[str, Any] = {
        "lock": a_digest("lock"),
        "sandbox": {},
        "workspace_before": a_digest("before"),
        "workspace_after": a_digest("after"),
        "sessions": (a_session(),),
        "oracle": OracleFinding(correct=correct, exit=ended(0)),
        "scope": ScopeFinding(),
    }
    return Outcome(
        sweep="s-0.1",
        plan=a_digest("plan"),
        cell="t.a.1",
        attempt=1,
        host="h",
        holder="h/0",
        started_at=AT,
        ended_at=AT + timedelta(seconds=4),
        evidence=Evidence(**(proven | changes)) if fault is None else None,
        fault=fault,
    )


RIGHT, WRONG = an_outcome(), an_outcome(correct=False)
TASK = a_task("t")


def problems(nothing: Any = (WRONG, WRONG), reference: Any = (RIGHT, RIGHT)) -> tuple[str, ...]:
    return proof_of(TASK, nothing, reference).problems


def test_wrong_with_nothing_and_right_with_the_reference_is_a_proof() -> None:
    verified = an_outcome(verify=CheckRun(exit=ended(0, 2.5)))
    assert proof_of(TASK, [WRONG, WRONG], [RIGHT, verified]) == Proof(
        task="t",
        nothing=("wrong", "wrong"),
        reference=("right", "right"),
        times=Times(cell_s=4.0, verify_s=2.5, oracle_s=1.0),
        problems=(),
    )


def test_what_nobody_measured_is_unknown() -> None:
    lost = an_outcome(fault=Fault(kind=FaultKind.HOST, detail="no disk"))
    assert proof_of(TASK, [lost], []).times == Times(cell_s=4.0, verify_s=None, oracle_s=None)


def test_an_oracle_that_is_content_with_nothing_is_named_once() -> None:
    (said,) = problems(nothing=(RIGHT, RIGHT))
    assert said.startswith("the oracle says right when nothing was done")


def test_a_reference_that_is_wrong_is_named_with_the_checks_own_words() -> None:
    wrong = an_outcome(oracle=OracleFinding(correct=False, answer_error="sum is 3"))
    assert problems(reference=(wrong, wrong)) == ("the oracle says wrong of the reference: sum is 3",)


def test_a_task_without_a_reference_is_not_proven() -> None:
    assert problems(reference=()) == ("it has no reference, so nothing shows that it can be solved; add `reference:`",)


def test_a_task_that_nothing_solves_is_proven_by_being_wrong_with_nothing_done() -> None:
    hopeless = TASK.model_copy(update={"solvable": False})
    assert proof_of(hopeless, [WRONG, WRONG], []).problems == ()
    (said,) = proof_of(hopeless, [RIGHT, RIGHT], []).problems
    assert said.startswith("the oracle says right when nothing was done")


def test_what_must_not_be_touched_may_be_right_with_nothing_done() -> None:
    untouched = TASK.model_copy(update={"action": ActionClass.READ_ONLY})
    assert proof_of(untouched, [RIGHT, RIGHT], [RIGHT, RIGHT]).problems == ()
    assert proof_of(untouched, [WRONG, WRONG], [RIGHT, RIGHT]).problems == ()


def test_an_oracle_that_says_two_things_is_flaky() -> None:
    assert "the oracle is flaky: with nothing done it said wrong, then right" in problems(nothing=(WRONG, RIGHT))
    assert "the oracle is flaky: with the reference it said right, then wrong" in problems(reference=(RIGHT, WRONG))


def test_a_visible_verify_must_pass_with_the_reference_and_always_end_alike() -> None:
    broken = an_outcome(verify=CheckRun(exit=ended(1)))
    assert problems(reference=(broken, broken)) == ("the visible verify ended with code 1 with the reference",)
    slow = ProcessExit(kind=ExitKind.LIMIT, limit="wall", wall_s=9.0)
    passing, hanging = (an_outcome(correct=False, verify=CheckRun(exit=one)) for one in (ended(0), slow))
    assert problems(nothing=(passing, hanging)) == (
        "the visible verify is flaky: with nothing done it ended with code 0, then reached its wall limit",
    )


def test_a_reference_outside_the_allowed_changes_is_named() -> None:
    stray = an_outcome(scope=ScopeFinding(before_oracle=("a.py", "b.py"), after_oracle=("a.py", "b.py")))
    assert problems(reference=(stray, stray)) == ("the reference is outside allowed_changes: a.py, b.py",)


def test_an_oracle_that_writes_into_the_workspace_is_named() -> None:
    littered = an_outcome(correct=False, scope=ScopeFinding(after_oracle=("cache.db",)))
    assert problems(nothing=(littered, littered)) == (
        "with nothing done the oracle itself changes the workspace: cache.db",
    )


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (
            an_outcome(fault=Fault(kind=FaultKind.TASK, detail="setup ended with code 2")),
            "the cell failed (task): setup ended with code 2",
        ),
        (
            an_outcome(oracle=OracleFinding(correct=None, problem="no compiler")),
            "the oracle could not be completed: no compiler",
        ),
    ],
)
def test_a_cell_that_proves_nothing_is_named_in_both_halves(outcome: Outcome, said: str) -> None:
    assert problems(nothing=(outcome, outcome)) == (f"with nothing done {said}",)
    assert problems(reference=(outcome, outcome)) == (f"with the reference {said}",)


def test_a_session_that_could_not_lay_the_reference_is_named() -> None:
    sessions = (a_session(problem="exit code 70 without a terminal event"),)
    unlaid = an_outcome(correct=False, sessions=sessions)
    assert problems(reference=(unlaid, unlaid))[0] == (
        "with the reference the session work failed: exit code 70 without a terminal event"
    )


def test_what_a_check_wrote_steers_no_terminal() -> None:
    wrong = an_outcome(oracle=OracleFinding(correct=False, answer_error="a\x1b[31m\nb"))
    assert problems(reference=(wrong, wrong)) == ("the oracle says wrong of the reference: a b",)
