from hypothesis import given
from hypothesis import strategies as st

from farm.gates.health import HealthStatus, arm_health
from farm.gates.table import Row
from farm.model import Fault, FaultKind, OracleFinding
from tests.builders.gates import ON, At, a_row

ANSWERS = st.lists(st.booleans(), min_size=1, max_size=8)
FAULTS = st.sampled_from([FaultKind.HOST, FaultKind.EVIDENCE, FaultKind.PROVIDER, FaultKind.TASK, FaultKind.LOST])


def answered(answers: list[bool]) -> list[Row]:
    return [a_row(At(ON, trial), oracle=OracleFinding(correct=right)) for trial, right in enumerate(answers, 1)]


def failed(kinds: list[FaultKind], start: int = 100) -> list[Row]:
    return [
        a_row(At(ON, trial), fault=Fault(kind=kind, detail="broken"), oracle=None)
        for trial, kind in enumerate(kinds, start)
    ]


@given(ANSWERS, st.lists(FAULTS, max_size=4))
def test_answers_change_nothing(answers: list[bool], kinds: list[FaultKind]) -> None:
    seen = arm_health(answered(answers) + failed(kinds))
    assert seen == arm_health(answered([not right for right in answers]) + failed(kinds))


@given(ANSWERS, st.lists(FAULTS, max_size=4))
def test_what_was_reused_changes_nothing_but_its_own_count(answers: list[bool], kinds: list[FaultKind]) -> None:
    fresh = failed(kinds)
    old = [row.model_copy(update={"reused": True}) for row in answered(answers)]
    with_old, alone = arm_health(fresh + old), arm_health(fresh)
    assert (with_old.status, with_old.fresh, with_old.kinds) == (alone.status, alone.fresh, alone.kinds)
    assert with_old.reused == len(old)


@given(ANSWERS, st.lists(FAULTS, min_size=1, max_size=4))
def test_each_failure_is_taken_off_once_and_one_sound_cell_keeps_an_arm_usable(
    answers: list[bool], kinds: list[FaultKind]
) -> None:
    seen = arm_health(answered(answers) + failed(kinds))
    assert (seen.admissible, sum(seen.kinds.values())) == (len(answers), len(kinds))
    assert seen.status is HealthStatus.DEGRADED
    assert arm_health(failed(kinds)).status is HealthStatus.UNUSABLE
