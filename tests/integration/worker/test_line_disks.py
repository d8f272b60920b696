"""Cells whose task caps their disk: what the evidence says, and that nobody else is hurt."""

import os
from typing import Any

import pytest

from farm.model import CheckLimits, Command, Evidence, ExitKind, FaultKind, Limits, SessionReport
from farm.plugins import Plugins
from tests.builders.disks import loops, mounts
from tests.builders.worker.doubles import HookedSandbox
from tests.builders.worker.farm import GIVEN, SHORT, Farm, says
from tests.builders.worker.working import Make, Run
from worker.cell.recording import LineEnd
from worker.programs.single import SingleProgram
from worker.session import Sessions
from worker.tasks import carry

MIB = 1 << 20
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk of a fixed size")
CAPPED = SHORT.model_copy(update={"disk_bytes": 8 * MIB, "inodes": 200, "memory_bytes": 256 * MIB})
FILL = "head -c 16000000 /dev/zero >{}/big; rm -f {}/big.never; sleep 0.1"
CROWD = """
import os
open("one", "w").close()
try:
    for number in range(60000):
        os.link("one", f"{number:0250}")
except OSError:
    pass
"""
LITTER = "i=0; while [ $i -lt 400 ]; do : >{}/f$i || exit 0; i=$((i+1)); done"


def evidence_of(cell: Farm) -> Evidence:
    outcome = cell.outcome()
    assert outcome.evidence is not None, outcome.fault
    return outcome.evidence


def step(command: str) -> dict[str, Any]:
    return {"run": {"command": command}}


@needs_root
@pytest.mark.parametrize("place", ["/cell/ws", "$HOME", "/tmp", "$FARM_OUT"])  # noqa: S108 (inside the sandbox)
@pytest.mark.parametrize(("deed", "limit"), [(FILL, "disk"), (LITTER, "inodes")])
def test_a_session_that_uses_its_disk_up_is_evidence_and_names_the_limit(
    farm: Make, run: Run, place: str, deed: str, limit: str
) -> None:
    cell = farm(step(deed.replace("{}", place)), limits=CAPPED)
    assert run(cell) is LineEnd.RECORDED
    evidence = evidence_of(cell)
    exit_ = evidence.sessions[0].exit
    assert limit in exit_.limits_touched
    assert exit_.peak_disk_bytes is not None
    assert exit_.peak_inodes is not None
    if limit == "disk":
        assert 7 * MIB < exit_.peak_disk_bytes < 9 * MIB
    else:
        assert 200 <= exit_.peak_inodes < 270
    assert evidence.sandbox["disk"] == f"ext4 on a loop device of the cell's own, {8 * MIB} bytes, 200 inodes"
    assert evidence.oracle.correct is True
    assert (cell.leftovers(), mounts(cell.root)) == ([], [])


@needs_root
def test_a_cell_within_its_disk_is_as_any_other_and_the_next_starts_anew(farm: Make, run: Run) -> None:
    script = step('printf C >src/c.py; printf out >$FARM_OUT/o; test -z "$(ls -A /tmp)" && : >/tmp/t')
    for _ in range(2):
        cell = farm(
            script, limits=CAPPED, oracle=says("grep -q C src/c.py"), task={"verify": verify("test -f src/c.py")}
        )
        assert run(cell) is LineEnd.RECORDED
        evidence = evidence_of(cell)
        exit_ = evidence.sessions[0].exit
        assert (exit_.code, exit_.limits_touched, evidence.oracle.correct) == (0, (), True)
        assert 0 < (exit_.peak_disk_bytes or 0) < MIB
        assert evidence.verify is not None
        assert evidence.verify.exit.code == 0
        assert evidence.verify.exit.peak_inodes is not None
        assert cell.artifact("out/o") == b"out"
        assert b"src/c.py" in cell.artifact("patch")


def verify(text: str) -> Command:
    return Command(argv=("sh", "-c", text), limits=CheckLimits(wall_s=20.0))


def test_a_cell_without_a_limit_has_no_disk_and_the_evidence_says_so(farm: Make, run: Run) -> None:
    cell = farm(step("true"))
    run(cell)
    evidence = evidence_of(cell)
    assert evidence.sandbox["disk"] == "not capped: the task sets no limit"
    assert (evidence.sessions[0].exit.peak_disk_bytes, evidence.sessions[0].exit.peak_inodes) == (None, None)
    assert list((cell.root / "disks").iterdir()) == []


@needs_root
def test_while_one_cells_disk_is_full_another_cell_writes_on(farm: Make, run: Run) -> None:
    inner: list[Evidence] = []
    calm = farm(step("head -c 4000000 /dev/zero >big && cat big >/dev/null"), limits=CAPPED)
    full = farm(step(FILL.replace("{}", "/cell/ws")), limits=CAPPED, oracle=says("test -s big"))

    def before(number: int, _: object) -> None:
        if number == 2:  # the first cell's oracle is about to run: its disk is full
            run(calm)
            inner.append(evidence_of(calm))

    full.sandbox = HookedSandbox(full.sandbox, before)
    run(full)
    assert "disk" in evidence_of(full).sessions[0].exit.limits_touched
    assert (inner[0].sessions[0].exit.code, inner[0].sessions[0].exit.limits_touched) == (0, ())


class Twice(SingleProgram):
    """Two sessions, the second in what the first left."""

    def perform(self, prompt: str, sessions: Sessions) -> tuple[SessionReport, ...]:
        return sessions.run("first", prompt), sessions.run("second", prompt)


@needs_root
def test_a_session_that_finds_no_room_to_start_is_the_arms_limit_not_a_fault(farm: Make, run: Run) -> None:
    plugins = Plugins({**GIVEN, "programs": {"single": Twice}})
    cell = farm(step(LITTER.replace("{}", "/cell/ws")), limits=CAPPED, plugins=plugins)
    run(cell)
    first, second = evidence_of(cell).sessions
    assert "inodes" in first.exit.limits_touched
    assert (second.exit.kind, second.exit.limit, second.reason) == (ExitKind.LIMIT, "inodes", "limit")


@needs_root
def test_a_copy_for_verify_that_grows_past_its_disk_is_that_checks_limit(farm: Make, run: Run) -> None:
    """A folder that is filled in the order in which another lists its names is split more often than that was."""
    cell = farm(step(f"python3 -c '{CROWD}'"), limits=CAPPED, task={"verify": verify("true")})
    run(cell)
    evidence = evidence_of(cell)
    assert "disk" in evidence.sessions[0].exit.limits_touched
    assert evidence.verify is not None
    assert (evidence.verify.exit.kind, evidence.verify.exit.limit) == (ExitKind.LIMIT, "disk")
    assert evidence.oracle.correct is True
    assert mounts(cell.root) == []


@needs_root
def test_files_with_holes_are_copied_to_a_disk_that_could_not_hold_what_they_show(farm: Make, run: Run) -> None:
    holes = "for i in 1 2 3 4; do truncate -s 4M hole$i; done"
    cell = farm(step(holes), limits=CAPPED, task={"verify": verify("test $(stat -c %s hole4) = 4194304")})
    run(cell)
    verified = evidence_of(cell).verify
    assert verified is not None
    assert (verified.exit.kind, verified.exit.code) == (ExitKind.EXITED, 0)


@needs_root
def test_a_workspace_that_does_not_fit_is_the_tasks_fault_and_says_what_to_raise(farm: Make, run: Run) -> None:
    cell = farm(step("true"), limits=Limits(wall_s=20.0, disk_bytes=MIB, inodes=3))
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.TASK
    assert "raise the task's limits disk_bytes or inodes" in fault.detail
    assert (cell.leftovers(), mounts(cell.root)) == ([], [])


@needs_root
def test_a_cells_disks_are_unmounted_at_its_end_while_the_line_lives_on(farm: Make) -> None:
    cell = farm(step("true"), limits=CAPPED, task={"verify": verify("true")})
    line = cell.line()
    try:
        assert carry(line, cell.ticket) is LineEnd.RECORDED
        assert (len(mounts(cell.root)), loops(cell.root / "images")) == (1, [])  # the place for the next one's
    finally:
        line.close()


@needs_root
def test_a_closed_line_leaves_no_mount_and_no_loop_device(farm: Make, run: Run) -> None:
    cell = farm(step("true"), limits=CAPPED)
    run(cell)
    assert (mounts(cell.root), list((cell.root / "disks").iterdir())) == ([], [])
    assert loops(cell.root / "images") == []
