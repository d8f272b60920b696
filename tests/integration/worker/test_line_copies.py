"""Cells whose workspace lies over its template: what the evidence says, what a check sees, and that nothing stays."""

import os
import secrets
from collections.abc import Callable
from dataclasses import replace

import pytest

from farm.model import Command, Evidence, FaultKind
from sandbox.spec import Bind, Exit, Sandbox, SandboxSpec, Sink
from tests.builders.disks import mounts
from tests.builders.worker.copies import CAPPED, FILES
from tests.builders.worker.doubles import HookedSandbox, breaks_at
from tests.builders.worker.farm import SHORT, Farm, says
from tests.builders.worker.working import Make, Run
from worker.cell.recording import LineEnd

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount an overlay")
MIB = 1 << 20
CHANGE = {"run": {"command": "mv many m && echo changed >src/a.py && rm run.sh && cat /proc/self/mountinfo >&2"}}
SEEN = "test -f m/001/file.txt && grep -q changed src/a.py && test ! -e run.sh && test ! -e many"
DISK = SHORT.model_copy(update={"disk_bytes": CAPPED.disk_bytes, "inodes": CAPPED.inodes})


def evidence_of(cell: Farm) -> Evidence:
    outcome = cell.outcome()
    assert outcome.evidence is not None, outcome.fault
    return outcome.evidence


def checked(command: str) -> dict[str, Command]:
    return {"verify": Command(argv=("sh", "-c", command))}


@needs_root
@pytest.mark.parametrize(("limits", "place"), [(SHORT, "the work root"), (DISK, "the disk of the cell")])
def test_a_session_a_check_and_an_oracle_see_one_workspace_and_the_evidence_names_its_way(
    farm: Make, run: Run, limits: object, place: str
) -> None:
    script, oracle = f"{SEEN} && echo x >src/a.py && rm -r m", says(SEEN)
    cell = farm(CHANGE, files=FILES, limits=limits, oracle=oracle, task=checked(script))
    assert run(cell) is LineEnd.RECORDED
    evidence = evidence_of(cell)
    assert evidence.sandbox["workspace"] == f"overlay: what changes lies on {place}"
    assert evidence.verify is not None
    assert (evidence.verify.exit.code, evidence.oracle.correct) == (0, True)
    assert (evidence.churn and evidence.churn.files) == 2 * len([path for path in FILES if path[:4] == "many"]) + 2
    assert b"rename" not in cell.artifact("patch")
    assert (cell.leftovers(), mounts(cell.root)) == ([], [])
    told = cell.artifact("session.work.stderr").decode()
    assert str(cell.root / "templates") not in told
    assert cell.plan.tasks[0].snapshot.tree not in told


@needs_root
def test_on_a_disk_the_peak_is_what_changed(farm: Make, run: Run) -> None:
    files = FILES | {"big": "x" * 4 * MIB}
    cell = farm({"run": {"command": "head -c 2000000 /dev/zero >new"}}, files=files, limits=DISK)
    assert run(cell) is LineEnd.RECORDED
    peak = evidence_of(cell).sessions[0].exit.peak_disk_bytes
    assert peak is not None
    assert 1_900_000 < peak < 3 * MIB


@needs_root
@pytest.mark.parametrize("files", [FILES | {"big": "x" * 9 * MIB}, {f"{n}/f": "x" for n in range(600)}])
def test_a_template_that_would_not_fit_on_the_cells_disk_is_the_tasks_fault_on_every_host(
    farm: Make, run: Run, files: dict[str, str]
) -> None:
    cell = farm(CHANGE, files=files, limits=DISK)
    assert run(cell) is LineEnd.RECORDED
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.TASK
    assert "raise the task's limits disk_bytes or inodes" in fault.detail
    assert (cell.leftovers(), mounts(cell.root)) == ([], [])


def test_a_small_template_is_copied_and_no_trial_is_made(farm: Make, run: Run) -> None:
    cell = farm({"run": {"command": "true"}})
    assert run(cell) is LineEnd.RECORDED
    assert evidence_of(cell).sandbox["workspace"] == "copy: the template is small"


class Blind(HookedSandbox):
    """A sandbox whose guests find an empty folder where an overlay is: what is mounted late does not reach it."""

    def run(self, spec: SandboxSpec, sink: Sink, stop: Callable[[], bool]) -> Exit:
        return super().run(replace(spec, binds=tuple(self._seen(bind) for bind in spec.binds)), sink, stop)

    def _seen(self, bind: Bind) -> Bind:
        if "overlays" not in bind.source.parts:
            return bind
        empty = bind.source.parents[2] / f"empty-{secrets.token_hex(4)}"
        empty.mkdir()
        os.chown(empty, *self.owner(0))
        return replace(bind, source=empty)


@needs_root
def test_where_a_guest_does_not_see_an_overlay_everything_is_copied(farm: Make, run: Run, bubblewrap: Sandbox) -> None:
    sandbox = Blind(bubblewrap, lambda *_: None)
    cell = farm(CHANGE, files=FILES, sandbox=sandbox, oracle=says(SEEN))
    assert run(cell) is LineEnd.RECORDED
    evidence = evidence_of(cell)
    assert evidence.sandbox["workspace"] == "copy: an overlay was tried, and a guest could not work in it"
    assert evidence.oracle.correct is True
    assert (cell.leftovers(), mounts(cell.root)) == ([], [])


@needs_root
def test_a_trial_that_could_not_be_made_is_no_fault_and_its_reason_is_told(
    farm: Make, run: Run, bubblewrap: Sandbox
) -> None:
    cell = farm(CHANGE, files=FILES, sandbox=HookedSandbox(bubblewrap, breaks_at(1)), oracle=says(SEEN))
    assert run(cell) is LineEnd.RECORDED
    evidence = evidence_of(cell)
    assert evidence.sandbox["workspace"] == "copy: an overlay was tried, and run 1 could not be started"
    assert evidence.oracle.correct is True
    assert (cell.leftovers(), mounts(cell.root)) == ([], [])
