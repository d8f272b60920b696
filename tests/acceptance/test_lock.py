"""A sweep is locked, published and paid for, by the commands that a person types."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from farm.adapters.embedded import EmbeddedRedis
from farm.bootstrap import connect
from farm.model import Host
from tests.builders.farm_command import Desk, a_repository, committed

SWEEP = """\
name: decisive
tasks:
  - id: one
    repository: {path: repository, ref: main}
    prompt_file: prompt.txt
    oracle: {kind: command, files: oracle, argv: [python3, "{hidden}/check.py"]}
  - id: two
    repository: {path: repository, ref: main}
    prompt_file: prompt.txt
    oracle: {kind: command, files: oracle, argv: [python3, "{hidden}/check.py"]}
trials: 1
arms:
  - {name: baseline, role: incumbent, agent: {kind: scripted, scripts: {one: [], two: []}}}
  - {name: candidate, role: candidate, agent: {kind: scripted, scripts: {one: [], two: []}}}
gates: [{kind: completeness}]
lock: decisive.lock
"""
STATEMENT = "Every planned cell can be judged."


def git(folder: Path, *args: str) -> None:
    subprocess.run(("git", *args), cwd=folder, check=True, capture_output=True)


@pytest.fixture
def locked(desk: Desk) -> Desk:
    """Give a desk with a sweep that is locked and pushed."""
    a_repository(desk.scratch / "repository", {"README": "Say hello.\n"})
    (desk.here / "oracle").mkdir()
    (desk.here / "oracle" / "check.py").write_text("print('fine')\n")
    (desk.here / "prompt.txt").write_text("Write hello into greeting.txt.\n")
    (desk.here / "sweep.yaml").write_text(SWEEP.replace("path: repository", f"path: {desk.scratch}/repository"))
    made = desk.farm("lock", "sweep.yaml", "--id", "first", "--statement", STATEMENT, "-o", "decisive.lock")
    assert made.code == 0, made
    (desk.here / ".gitignore").write_text(".farm\n")
    committed(desk.here)
    git(desk.scratch, "init", "-q", "--bare", "origin.git")
    git(desk.here, "remote", "add", "origin", str(desk.scratch / "origin.git"))
    git(desk.here, "push", "-q", "-u", "origin", "main")
    return desk


def test_a_locked_sweep_is_run_when_its_cost_is_confirmed_and_its_verdict_says_so(locked: Desk) -> None:
    told = locked.farm("plan", "sweep.yaml")
    assert told.code == 0, told
    assert "lock    first " in told.out
    assert "the upstream one, clean" in told.out
    assert "cost    4 runs, 0 of which ask a provider: $0.00" in told.out
    refused = locked.farm("run", "sweep.yaml")
    assert (refused.code, refused.out) == (2, ""), refused
    assert "cost    4 runs, 0 of which ask a provider: $0.00" in refused.err
    assert "nobody confirmed the cost of 4 runs; say --confirm-cost" in refused.err
    assert not (locked.here / ".farm" / "store" / "sweeps").exists()
    ran = locked.farm("run", "sweep.yaml", "--slots", "2", "--confirm-cost", "--json")
    assert ran.code == 0, ran
    answer = json.loads(ran.out)
    (verdict,) = answer["verdicts"]
    assert verdict["preregistration"]["lock"]["id"] == "first"
    assert verdict["preregistration"]["source"]["is_clean"]
    verified = locked.farm("verify", answer["sweep"])
    assert verified.code == 0, verified


def test_a_pilot_needs_no_publication_and_is_never_passed(locked: Desk) -> None:
    (locked.here / ".gitignore").write_text(".farm\n# changed\n")
    refused = locked.farm("submit", "sweep.yaml", "--confirm-cost", "--reuse", "decisive-000000000000.1")
    assert refused.code == 2, refused
    assert ".gitignore is changed" in refused.err
    assert "a locked sweep measures every cell itself" in refused.err
    told = locked.farm("plan", "sweep.yaml", "--max-tasks", "1")
    assert "pilot   1 of 2 tasks, 1 trials in place of 1: no gate passes; one may fail, or find harm" in told.out
    ran = locked.farm("run", "sweep.yaml", "--max-tasks", "1", "--slots", "2", "--confirm-cost", "--json")
    assert ran.code == 5, ran
    answer = json.loads(ran.out)
    (verdict,) = answer["verdicts"]
    assert (verdict["decision"], verdict["summary"].partition(" (")[0]) == ("inconclusive", "a pilot never passes")
    assert locked.farm("verify", answer["sweep"]).code == 0


def test_whatever_was_edited_is_named_even_by_a_plan(locked: Desk) -> None:
    (locked.here / "prompt.txt").write_text("Write goodbye.\n")
    (locked.here / "oracle" / "check.py").write_text("print('also fine')\n")
    refused = locked.farm("plan", "sweep.yaml")
    assert refused.code == 2, refused
    assert "the sweep is not what the lock 'first' fixes" in refused.err
    for place in ("oracles.one", "oracles.two", "tasks.one", "tasks.two"):
        assert f"plan.{place}: locked " in refused.err


def test_a_lock_that_stands_is_not_written_over(locked: Desk) -> None:
    refused = locked.farm("lock", "sweep.yaml", "-o", "decisive.lock")
    assert (refused.code, len(refused.error_lines)) == (2, 1)
    assert "a lock is never changed" in refused.err


def test_a_locked_sweep_is_not_submitted_where_no_host_has_what_it_needs(locked: Desk) -> None:
    other = Host(id="other", slots=1, busy=0, version="1", sandbox="docker", seen_at=datetime.now(UTC))
    with EmbeddedRedis() as server:
        connect(server.url).hosts.beat(other, 60)
        refused = locked.farm("submit", "sweep.yaml", "--confirm-cost", env={"FARM_REDIS_URL": server.url})
    assert refused.code == 2, refused
    assert "it lacks sandbox bubblewrap" in refused.err
    assert "A provider needs its key on a host" in refused.err
    assert not (locked.here / ".farm" / "store" / "sweeps").exists()
