"""A sweep that runs for a while, real processes to run it, and eyes on what they leave: for tests that kill things."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.builders.farm_command import FARM, Desk, a_repository

PATIENCE_S = 60.0
_QUICK_LEASES = {"FARM_LEASE_TTL_S": "3", "FARM_BEAT_S": "0.5"}

SWEEP = """\
name: slow
trials: {trials}
breaker: {{streak: 0}}
tasks:
  - id: nap
    repository: {{path: repository}}
    prompt: Write done into nap.txt.
    oracle: {{kind: command, argv: [grep, -qx, done, nap.txt]}}
arms:
  - name: baseline
    role: incumbent
    agent: &agent
      kind: scripted
      scripts:
        nap:
          - say: I am about to sleep.
          - run: {{command: "sleep {nap_s} & sleep {nap_s}"}}
          - write: {{path: nap.txt, text: "done\\n"}}
          - answer: {{text: done}}
  - {{name: candidate, role: candidate, agent: *agent}}
"""


def eventually(what: str, holds: Callable[[], bool], limit_s: float = PATIENCE_S) -> None:
    """Wait for a condition; fail naming it when the limit is reached."""
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, f"{what}: not within {limit_s} s"
        time.sleep(0.02)


@dataclass(frozen=True, slots=True)
class Tree:
    """One live process."""

    pid: int
    parent: int
    command: str


def processes() -> list[Tree]:
    """List the machine's live processes; zombies are dead."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            except OSError:
                continue
            if state != "Z":
                found.append(Tree(int(entry.name), int(parent), command))
    return found


def descendants(root: int) -> set[int]:
    """Name every process below `root`, itself included."""
    children: dict[int, list[int]] = {}
    for tree in processes():
        children.setdefault(tree.parent, []).append(tree.pid)
    found, left = {root}, [root]
    while left:
        for child in children.get(left.pop(), []):
            found.add(child)
            left.append(child)
    return found


@dataclass(frozen=True, slots=True)
class Bench:
    """A desk with a slow sweep on it, its store, and a mark by which its sessions' processes are known."""

    desk: Desk
    redis_url: str | None
    nap_s: str

    @property
    def env(self) -> dict[str, str]:
        redis = {"FARM_REDIS_URL": self.redis_url} if self.redis_url else {}
        return self.desk.env(_QUICK_LEASES | redis | self.host("here"))

    def host(self, name: str) -> dict[str, str]:
        """Give a host of its own to a worker that shares this machine with others."""
        return {"FARM_HOST_ID": name, "FARM_WORK_ROOT": str(self.desk.scratch / name)}

    @contextmanager
    def started(self, *arguments: str, **extra: str) -> Iterator[subprocess.Popen[bytes]]:
        """Start `farm` in the background, in a session of its own; whatever is left of it is killed at the end."""
        name = f"{arguments[0]}-{time.monotonic_ns()}"
        with (self.desk.here / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                (str(FARM), *arguments),
                cwd=self.desk.here,
                env=self.env | (self.host(name) if arguments[0] == "worker" else {}) | extra,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            for pid in descendants(process.pid) if process.poll() is None else ():
                with suppress(ProcessLookupError):  # it died with one that was killed before it
                    os.kill(pid, signal.SIGKILL)
            process.wait()

    def farm(self, *arguments: str) -> tuple[int, str]:
        """Run `farm` to its end; give its code and all that it printed."""
        ended = self.desk.farm(*arguments, env=self.env)
        return ended.code, ended.out + ended.err

    def records(self, pattern: str) -> list[Path]:
        return sorted((self.desk.here / ".farm" / "store" / "sweeps").glob(f"*/{pattern}"))

    def sleepers(self) -> list[Tree]:
        """List the sessions' own processes, wherever they run."""
        return [tree for tree in processes() if tree.command == f"sleep {self.nap_s}"]

    def sweep(self) -> str:
        return self.records("plan.json")[0].parent.name

    def claims_after_results(self) -> list[str]:
        """Name the attempts that were claimed after their cell had its result."""
        late = []
        for result in self.records("results/*.json"):
            settled = json.loads(result.read_bytes())
            claims = self.records(f"attempts/{settled['cell']}/*/claim.json")
            late += [str(claim) for claim in claims if int(claim.parent.name) > settled["attempt"]]
        return late


def a_bench(desk: Desk, *, redis_url: str | None, trials: int, nap_s: float) -> Bench:
    """Lay the slow sweep on the desk; the mark in the nap's length is unique to it."""
    nap = f"{nap_s}{int(desk.mark[:6], 16):08d}"
    a_repository(desk.here / "repository", {"README": "Nothing here yet.\n"})
    (desk.here / "sweep.yaml").write_text(SWEEP.format(trials=trials, nap_s=nap))
    return Bench(desk, redis_url, nap)
