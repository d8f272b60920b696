import pytest
from pydantic import ValidationError

from farm.model import Decision, LockPin, PilotSize, Pin, Plan, Preregistration, SourceState, Verdict, canonical_json
from tests.builders.gates import a_digest, a_plan

COMMIT, OTHER = "c" * 40, "d" * 40
LOCK = LockPin(id="first-protocol", digest=a_digest("lock"))
PILOT = PilotSize(tasks=2, of_tasks=20, trials=1, of_trials=5)


def a_verdict(preregistration: Preregistration | None = None) -> Verdict:
    return Verdict(
        sweep="s-0.1",
        settlement=a_digest("settlement"),
        cleanup=a_digest("cleanup"),
        gate=Pin(name="g", version="1"),
        decision=Decision.FAIL,
        summary="no",
        checks=(),
        preregistration=preregistration,
    )


def test_a_plan_without_one_has_the_bytes_that_it_always_had() -> None:
    assert b"preregistration" not in canonical_json(a_plan())


def test_a_verdict_without_one_has_the_bytes_that_it_always_had() -> None:
    assert b"preregistration" not in canonical_json(a_verdict())


def test_a_plans_digest_holds_its_lock() -> None:
    locked = Plan.model_validate({**a_plan().model_dump(), "preregistration": Preregistration(lock=LOCK)})
    assert locked.digest != a_plan().digest
    assert Plan.model_validate_json(canonical_json(locked)) == locked


def test_a_verdict_can_be_read_back_with_it() -> None:
    verdict = a_verdict(Preregistration(pilot=PILOT))
    assert Verdict.model_validate_json(canonical_json(verdict)) == verdict


def test_a_whole_plan_with_a_lock_is_locked() -> None:
    assert Preregistration(lock=LOCK).is_locked


def test_a_pilot_is_not_locked_even_under_a_lock() -> None:
    assert not Preregistration(lock=LOCK, pilot=PILOT).is_locked


def test_where_nobody_looked_nothing_is_committed_or_published() -> None:
    found = Preregistration(lock=LOCK)
    assert (found.is_committed, found.is_published) == (False, False)


@pytest.mark.parametrize(
    ("upstream", "is_clean", "expected"),
    [
        (COMMIT, True, (True, True)),
        (COMMIT, False, (False, True)),
        (OTHER, True, (True, False)),
        (None, True, (True, False)),
    ],
)
def test_a_source_is_committed_when_clean_and_published_when_its_upstream_is_the_same(
    upstream: str | None, is_clean: bool, expected: tuple[bool, bool]
) -> None:
    source = SourceState(commit=COMMIT, upstream=upstream, is_clean=is_clean)
    found = Preregistration(lock=LOCK, source=source)
    assert (found.is_committed, found.is_published) == expected


def test_neither_lock_nor_pilot_is_no_preregistration() -> None:
    with pytest.raises(ValidationError, match="needs a lock"):
        Preregistration()
