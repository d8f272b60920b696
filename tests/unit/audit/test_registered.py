from farm.adapters.memory import MemoryStore
from farm.audit.findings import Notebook
from farm.audit.registered import check_lock
from farm.model import LockPin, Plan, Preregistration, SweepId, canonical_json
from farm.planning.locking import Cut, pilot_of
from farm.version import __version__
from tests.builders.gates import a_plan
from tests.builders.locks import a_lock

SWEEP = SweepId("demo-000000000000.1")
PLAN = a_plan(tasks=("one", "two"), trials=3).model_copy(update={"farm_version": __version__})


def locked(plan: Plan = PLAN, called: str = "first-protocol") -> Plan:
    return plan.with_preregistration(Preregistration(lock=LockPin(id=called, digest=a_lock(PLAN).digest)))


def flaws(plan: Plan) -> list[str]:
    store, notebook = MemoryStore(), Notebook()
    store.blobs.put(canonical_json(a_lock(PLAN)))
    check_lock(SWEEP, plan, store.blobs, notebook)
    return sorted(flaw.problem for flaw in notebook.flaws) + sorted(flaw.problem for flaw in notebook.unchecked)


def test_a_plan_that_is_what_its_lock_fixes_is_sound() -> None:
    assert flaws(locked()) == []


def test_a_plan_without_a_lock_is_not_asked() -> None:
    assert flaws(PLAN) == []


def test_a_plan_that_is_not_what_its_lock_fixes_is_flawed() -> None:
    (flaw,) = flaws(locked(PLAN.model_copy(update={"sandbox": "docker"})))
    assert flaw.startswith("it is not what its lock fixes: conditions.sandbox: ")


def test_a_pilot_is_what_its_lock_fixes_as_far_as_it_goes() -> None:
    assert flaws(pilot_of(locked(), Cut(most_tasks=1, trials=1))) == []


def test_a_pilot_that_is_otherwise_changed_is_flawed() -> None:
    pilot = pilot_of(locked(), Cut(most_tasks=1)).model_copy(update={"arms": PLAN.arms[:1], "sandbox": "docker"})
    assert len(flaws(pilot)) == 2


def test_a_lock_of_another_name_is_a_flaw() -> None:
    (flaw,) = flaws(locked(called="another"))
    assert flaw == "its lock is called 'first-protocol', and it says 'another'"


def test_a_plan_of_another_farm_is_said_to_be_unchecked() -> None:
    (unchecked,) = flaws(locked(PLAN.model_copy(update={"farm_version": "0.0.0", "sandbox": "docker"})))
    assert unchecked.startswith("not held against its lock")
