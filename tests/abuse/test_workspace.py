"""A: what a guest does to its workspace is its own limit; it costs the host little, and the cell is never dropped."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from farm.model import CheckLimits, Command, Evidence, ExitKind, Limits, OracleSpec, WorkspaceMode
from sandbox.spec import SandboxSpec
from tests.builders.sandbox_rooms import bubblewrap, system_python, work_root
from tests.builders.worker.doubles import HookedSandbox
from tests.builders.worker.farm import Farm
from worker.cell.recording import LineEnd
from worker.tasks import carry

MIB = 1 << 20
LIMITS = Limits(wall_s=300.0, output_bytes=1 << 16)
YES = OracleSpec(kind="command", options={"argv": ["true"]})

SPARSE_IN_GIT = """
os.truncate(os.open(".git/s", os.O_CREAT | os.O_RDWR), 300 << 20)
for n in range(4): os.link(".git/s", f".git/h{n}")
"""
HUGE_GIT = """
for n in range(9): os.truncate(os.open(f".git/s{n}", os.O_CREAT | os.O_RDWR), 1000 << 20)
"""
HUGE = HUGE_GIT.replace(".git/", "")
HOLES = """
for n in range(2): os.truncate(os.open(f"s{n}", os.O_CREAT | os.O_RDWR), 1000 << 20)
"""
DEEP = """
for n in range(300): os.mkdir("d"); os.chdir("d")
"""
LONG = """
for n in range(15): os.mkdir("d" * 255); os.chdir("d" * 255)
os.mkdir("q" * 250); os.chdir("q" * 250); os.mkfifo("ppppp")
"""
MANY = """
for place in ("/cell/ws/many", "/cell/out/many"):
    os.mkdir(place); os.chdir(place)
    for n in range(200_000):
        if n % 50_000: os.link(str(n - n % 50_000), str(n))
        else: os.close(os.open(str(n), os.O_CREAT))
"""
CLOSED = """
for n in range(2000): os.mkdir("d", 0o700); os.chdir("d")
os.chdir("/cell/ws")
for mode in (0o000, 0o555):
    os.mkdir(f"{mode}"); os.mkdir(f"{mode}/in"); open(f"{mode}/in/x", "w").close()
    os.chmod(f"{mode}/in", mode); os.chmod(f"{mode}", mode)
os.chmod("src/a.py", 0); os.chmod("src", 0); os.chmod(".git", 0)
os.chdir("/cell/out")
os.mkdir("shut"); open("shut/x", "w").close(); os.chmod("shut", 0); os.chmod(".", 0)
"""


def done(text: str) -> dict[str, object]:
    return {"run": {"command": f"{system_python()} -c 'import os\n{text}'"}}


def a_farm(text: str, oracle: OracleSpec = YES) -> Farm:
    verify = Command(argv=("true",), limits=CheckLimits(wall_s=20.0))
    root = work_root() / f"line-{os.urandom(4).hex()}"
    return Farm(
        root=root, sandbox=bubblewrap(), script=[done(text)], oracle=oracle, limits=LIMITS, task={"verify": verify}
    )


def carried(farm: Farm) -> Evidence:
    line = farm.line()
    try:
        assert carry(line, farm.ticket) is LineEnd.RECORDED
    finally:
        line.close()
    outcome = farm.outcome()
    assert outcome.evidence is not None, outcome.fault
    assert outcome.evidence.sessions[0].exit.code == 0, farm.artifact("session.work.events")
    assert farm.result() is not None
    assert farm.leftovers() == []
    return outcome.evidence


def room(folder: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


def before_run(farm: Farm, number: int, do: Callable[[], object]) -> None:
    def before(count: int, _: SandboxSpec) -> None:
        if count == number:
            do()

    farm.sandbox = HookedSandbox(farm.sandbox, before)


def test_holes_and_hard_links_in_the_git_folder_take_no_room_in_a_copy() -> None:
    farm, taken = a_farm(SPARSE_IN_GIT), []
    before_run(farm, 2, lambda: taken.append(room(farm.root / "cells")))
    evidence = carried(farm)
    assert evidence.verify is not None
    assert evidence.verify.exit.code == 0
    assert evidence.oracle.correct is True
    assert taken[0] < 2 * MIB


def test_a_git_folder_too_large_to_copy_is_the_limit_of_the_check_that_wants_a_copy() -> None:
    evidence = carried(a_farm(HUGE_GIT))
    assert evidence.verify is not None
    assert (evidence.verify.exit.kind, evidence.verify.exit.limit) == (ExitKind.LIMIT, "workspace_bytes")
    assert (evidence.oracle.correct, evidence.workspace_limit) == (True, None)


@pytest.mark.parametrize(
    ("deed", "limit"),
    [
        (HUGE, "workspace_bytes"),
        (HOLES, "workspace_bytes"),
        (DEEP, "workspace_depth"),
        (LONG, "workspace_unreadable"),
    ],
    ids=["huge", "holes", "deep", "long"],
)
def test_a_guest_can_not_drop_its_cell_by_what_it_leaves(deed: str, limit: str) -> None:
    farm = a_farm(deed)
    before = time.process_time()
    evidence = carried(farm)
    assert time.process_time() - before < 5
    assert (evidence.workspace_limit, evidence.workspace_after, evidence.churn) == (limit, None, None)
    assert evidence.oracle.correct is False
    assert (evidence.oracle.answer_error or "").startswith(f"{limit}: the workspace")
    assert evidence.scope.before_oracle == (evidence.oracle.answer_error,)
    assert not any(one.role.startswith(("patch", "oracle")) for one in farm.outcome().artifacts)


def test_what_a_writable_oracle_lets_a_guest_do_breaks_the_scope_and_drops_nothing() -> None:
    oracle = OracleSpec(
        kind="command",
        options={"argv": ["sh", "-c", f"{system_python()} -c 'import os{DEEP}'"]},
        workspace=WorkspaceMode.WRITABLE,
    )
    evidence = carried(a_farm("", oracle))
    assert evidence.oracle.correct is True
    assert evidence.scope.before_oracle == ()
    assert evidence.scope.after_oracle == ("workspace_depth: the workspace is more than 256 folders deep",)


def test_a10_two_hundred_thousand_files_are_a_limit_and_are_removed() -> None:
    """Most are one file by another name: as many entries, and made in a tenth of the time."""
    farm = a_farm(MANY)
    evidence = carried(farm)
    assert len(farm.artifact("out.refused").splitlines()) == 50
    assert evidence.workspace_limit == "workspace_files"
    assert evidence.verify is not None
    assert evidence.verify.exit.limit == "workspace_files"


def test_a11_closed_folders_and_deep_ones_are_the_guests_doing_and_are_removed() -> None:
    evidence = carried(a_farm(CLOSED))
    assert evidence.workspace_limit in {"workspace_depth", "workspace_unreadable"}
    assert evidence.oracle.correct is False
