"""A task's builds, in a real sandbox: made once, the same bytes for every cell, arm and host."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from farm.adapters.memory import MemoryStore
from farm.adapters.system_clock import SystemClock
from farm.model import (
    Build,
    BuildLimits,
    Churn,
    Dependency,
    Derived,
    Digest,
    FaultKind,
    Outcome,
    Overlay,
    build_lock,
    canonical_json,
    parse_record,
)
from farm.model.keys import derived_key, open_key, outcome_key
from sandbox.backends.bubblewrap import Bubblewrap
from tests.builders.worker.doubles import HookedRecords, HookedSandbox, breaks_at
from tests.builders.worker.farm import Farm, a_tar, says
from tests.builders.worker.working import Make, Run
from worker.tasks import carry

MADE = "mkdir -p app/dist && date +%N >app/dist/when && cat src/a.py >app/dist/a"
SEEN = "grep -q 'A = 1' app/dist/a"


def a_build(line: str = MADE, **changes: Any) -> Build:
    return Build(**{"name": "lib", "argv": ("sh", "-c", line), "output": "app/dist", **changes})


@pytest.fixture
def building(farm: Make) -> Make:
    """A farm whose task has builds, in a store that may be another one's too."""

    def make(*builds: Build, store: MemoryStore | None = None, **changes: Any) -> Farm:
        task = {"builds": builds or (a_build(),), **changes.pop("task", {})}
        return farm(*changes.pop("script", ()), store=store or MemoryStore(), task=task, **changes)

    return make


def lock_of(farm: Farm) -> Digest:
    (task,) = farm.plan.tasks
    return build_lock(farm.plan, task, task.builds[0])


def derived(farm: Farm) -> Derived:
    key = derived_key(lock_of(farm))
    body = farm.store.records.read(key)
    assert body is not None
    return parse_record(Derived, body, key)


def fault_of(outcome: Outcome) -> tuple[FaultKind, str]:
    assert outcome.fault is not None, outcome.evidence
    return outcome.fault.kind, outcome.fault.detail


def test_case_27_what_a_build_makes_is_seen_read_only_and_is_no_sessions_change(building: Make, run: Run) -> None:
    line = f"{SEEN} && ! echo x >>app/dist/a && git status --porcelain >/tmp/told && test ! -s /tmp/told"
    cell = building(script=[{"run": {"command": line, "must_succeed": True}}], oracle=says(SEEN))
    run(cell)
    outcome = cell.outcome()
    assert outcome.evidence is not None, outcome.fault
    assert outcome.evidence.sessions[0].problem is None
    assert outcome.evidence.oracle.correct is True
    assert outcome.evidence.churn == Churn(files=0, added_lines=0, removed_lines=0, binary_files=0)
    assert outcome.evidence.builds == {"lib": derived(cell).files}
    assert (derived(cell).task, derived(cell).build, derived(cell).host) == ("fix", "lib", "host-1")
    assert cell.leftovers() == []


def test_paired_arms_and_other_hosts_see_the_same_bytes(building: Make, run: Run, work_root: Path) -> None:
    first = building()
    run(first)
    files = first.store.blobs.put(a_tar({"docs/hint.md": "h\n"}))
    second = building(store=first.store, overlay=Overlay(files=files, boundary=("**",)))
    second.root = work_root / "other-host"
    run(second)
    for cell in (first, second):
        evidence = cell.outcome().evidence
        assert evidence is not None, cell.outcome().fault
        assert evidence.builds == {"lib": derived(first).files}
    assert lock_of(first) == lock_of(second)
    assert b"build.lib" not in b"".join(one.role.encode() for one in second.outcome().artifacts)


def test_an_arms_overlay_is_in_no_build(building: Make, run: Run) -> None:
    store = MemoryStore()
    files = store.blobs.put(a_tar({"src/a.py": "A = 'overlaid'\n"}))
    cell = building(
        a_build(f"! test -e mark && {MADE}"), store=store, overlay=Overlay(files=files, boundary=("src/*",))
    )
    cell.oracle = says(SEEN)
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    seen = cell.store.blobs.get(evidence.builds["lib"])
    assert b"A = 1" in seen
    assert b"overlaid" not in seen


def test_a_build_has_the_tasks_dependencies_and_its_own_environment_and_no_network(building: Make, run: Run) -> None:
    store = MemoryStore()
    modules = Dependency(files=store.blobs.put(a_tar({"left/index.js": "7\n"})), target="node_modules")
    offline = "python3 -c 'import socket; assert socket.socket().connect_ex((\"1.1.1.1\", 53))'"
    line = f"{offline} && mkdir app && cp -r node_modules/left app/dist && echo $KIND >app/dist/kind"
    cell = building(a_build(line, env={"KIND": "full"}), store=store, task={"dependencies": (modules,)})
    run(cell)
    assert cell.outcome().evidence is not None, cell.outcome().fault
    assert b"full" in cell.store.blobs.get(derived(cell).files)


def test_whoever_loses_the_race_uses_the_winners_bytes(building: Make, run: Run) -> None:
    cell = building(oracle=says("grep -q winner app/dist/who"))
    files = cell.store.blobs.put(a_tar({"who": "winner\n"}))

    lock = lock_of(cell)
    theirs = Derived(
        lock=lock, files=files, size_bytes=1, task="fix", build="lib", host="host-2", made_at=SystemClock().now()
    )

    def before(key: str) -> None:
        if key.startswith("derived/"):
            cell.store.records.create(key, canonical_json(theirs))

    cell.records = HookedRecords(cell.store.records, before)
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    assert evidence.builds == {"lib": files}
    assert evidence.oracle.correct is True


def test_two_slots_of_a_host_that_need_a_build_make_it_once(building: Make, work_root: Path) -> None:
    build = a_build(f"echo here && sleep 0.5 && {MADE}")
    first = building(build, sandbox=Bubblewrap(work_root))
    second = building(build, store=first.store, plan_extra={"name": "other"}, sandbox=Bubblewrap(work_root))

    def work(farm: Farm, slot: int) -> None:
        line = farm.line(slot)
        try:
            carry(line, farm.ticket)
        finally:
            line.close()

    threads = [threading.Thread(target=work, args=(farm, slot)) for slot, farm in enumerate((first, second))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    outcomes = [first.outcome(), second.outcome()]
    assert [one.evidence and one.evidence.builds for one in outcomes] == [{"lib": derived(first).files}] * 2
    roles = [artifact.role for one in outcomes for artifact in one.artifacts]
    assert roles.count("build.lib.stdout") == 1


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (a_build("echo no compiler >&2; exit 2"), "the build 'lib' ended with code 2: no compiler"),
        (a_build("sleep 60", limits=BuildLimits(wall_s=0.3)), "the build 'lib' reached its limit of wall"),
        (a_build("true"), "made what can't be used: 'app/dist' is no folder"),
        (a_build("mkdir -p app && ln -s /etc app/dist"), "'app/dist' is no folder"),
        (a_build(MADE, forbidden=("A = 1",)), "the file 'a' holds 'A = 1', which is forbidden there"),
        (a_build(MADE, forbidden=("when",)), "the name 'when' holds 'when', which is forbidden there"),
    ],
)
def test_a_build_that_fails_is_the_tasks_fault(building: Make, run: Run, build: Build, said: str) -> None:
    cell = building(build)
    run(cell)
    kind, detail = fault_of(cell.outcome())
    assert kind is FaultKind.TASK
    assert said in detail
    assert cell.leftovers() == []
    assert cell.store.records.read(derived_key(lock_of(cell))) is None


def test_case_5_what_the_snapshot_hides_may_not_be_in_what_is_built(building: Make, run: Run) -> None:
    cell = building(a_build("mkdir -p app/dist && echo see eval/bench/answers >app/dist/index"))
    (task,) = cell.plan.tasks
    snapshot = task.snapshot.model_copy(update={"hidden": ("eval/bench/**",)})
    cell = building(*task.builds, plan_extra={"tasks": (task.model_copy(update={"snapshot": snapshot}),)})
    run(cell)
    assert "the file 'index' holds 'eval/bench/'" in fault_of(cell.outcome())[1]


def test_case_57_a_failed_build_is_not_tried_again_for_the_sweeps_other_cells_on_this_host(
    building: Make, run: Run
) -> None:
    cell = building(a_build("date +%N >&2; exit 1"), trials=2)
    run(cell)
    kind, first = fault_of(cell.outcome())
    line = cell.line(slot=1)
    try:
        ticket = cell.ticket.model_copy(update={"cell": cell.plan.cells[1].id, "index": 1})
        carry(line, ticket)
    finally:
        line.close()
    body = cell.records.read(outcome_key(cell.sweep, cell.plan.cells[1].id, 1))
    assert body is not None
    again = fault_of(parse_record(Outcome, body, "the second cell's outcome"))
    assert again == (kind, f"{first} (it is not tried again on this host in this sweep)")


def test_a_sweep_of_the_same_name_that_was_opened_anew_tries_a_failed_build_again(
    building: Make, run: Run, work_root: Path
) -> None:
    failing = building(a_build("test -e /cell/ws/none || exit 1"))
    failing.records.create(open_key(failing.sweep), b"yesterday, in another store")
    run(failing)
    again = building(*failing.plan.tasks[0].builds)
    again.records.create(open_key(again.sweep), b"today")
    run(again)
    assert (again.sweep, again.root) == (failing.sweep, work_root)
    assert "not tried again" not in fault_of(again.outcome())[1]


def test_a_build_that_its_host_could_not_start_is_the_hosts_fault_and_made_at_the_next_attempt(
    building: Make, run: Run, bubblewrap: Bubblewrap
) -> None:
    cell = building(sandbox=HookedSandbox(bubblewrap, breaks_at(1)))
    run(cell)
    assert fault_of(cell.outcome())[0] is FaultKind.HOST
    assert cell.leftovers() == []
    run(cell, attempt=2)
    evidence = cell.outcome(2).evidence
    assert evidence is not None, cell.outcome(2).fault
    assert evidence.builds == {"lib": derived(cell).files}


def test_a_build_is_named_apart_from_what_it_makes(building: Make) -> None:
    locks: Callable[..., Digest] = lambda **changes: lock_of(building(a_build(**changes)))  # noqa: E731 (short)
    assert locks() == locks(name="other") == locks(target="lib")
    assert len({locks(), locks(env={"A": "b"}), locks(forbidden=("x",)), locks(line="true")}) == 4
