"""A running sweep of 24 small cells: what is done to it, and how it ends."""

import json
import random
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import yaml

from farm import bootstrap, drafting
from farm.cli.finishing import finish
from farm.coordinator.submit import submit
from farm.model import Outcome, Plan, SweepId, Ticket, needs, parse_record, queue_of
from farm.model.keys import AttemptFile, attempt_place, attempts_prefix, results_prefix, sweep_root
from tests.builders.farm_command import FARM, a_repository
from tests.builders.faulty import processes
from tests.faults import stations
from tests.faults.fleet import Fleet

CELLS = 24
LIMIT_S = 40.0
Script = list[dict[str, Any]]
Outcomes = dict[str, dict[int, Outcome]]


@dataclass(frozen=True)
class Shape:
    """Four tasks, two arms, three trials; the last task may be an odd one."""

    name: str = "naps"
    nap_s: float = 0.2
    odd: Script | None = None
    """What the sessions of the last task do; None: as all others."""
    odd_limits: Mapping[str, Any] = field(default_factory=dict)
    odd_nap_s: float | None = None
    most_attempts: int = 3

    @property
    def mark(self) -> str:
        """What the sessions' sleeps end with: nobody else's do."""
        return f"{random.Random(self.name).randrange(10**8):08d}7"  # noqa: S311 (a mark, not a secret)

    def nap(self, seconds: float) -> Script:
        return [
            {"say": "so far"},
            {"run": {"command": f"sleep {seconds}{self.mark} & sleep {seconds}{self.mark}"}},
            {"write": {"path": "nap.txt", "text": "done\n"}},
            {"answer": {"text": "done"}},
        ]

    def document(self) -> dict[str, Any]:
        names = ["one", "two", "three", "odd"]
        scripts = {name: self.nap(self.nap_s) for name in names}
        if self.odd is not None:
            scripts["odd"] = self.odd
        elif self.odd_nap_s is not None:
            scripts["odd"] = self.nap(self.odd_nap_s)
        oracle = {"kind": "command", "argv": ["grep", "-qx", "done", "nap.txt"]}
        tasks = [
            {"id": name, "repository": {"path": "repository"}, "prompt": "Sleep, then write.", "oracle": oracle}
            for name in names
        ]
        if self.odd_limits:
            tasks[-1]["limits"] = dict(self.odd_limits)
        agent = {"kind": "scripted", "scripts": scripts}
        arms = [{"name": "baseline", "role": "incumbent"}, {"name": "candidate", "role": "candidate"}]
        return {
            "name": self.name,
            "trials": 3,
            "breaker": {"streak": 0},
            "retry": {"base_delay_s": 0.2, "most_attempts": self.most_attempts},
            "tasks": tasks,
            "arms": [arm | {"agent": agent} for arm in arms],
        }


@dataclass
class Sweep:
    """A submitted sweep and its coordinator."""

    fleet: Fleet
    shape: Shape
    id: SweepId
    plan: Plan
    coordinator: ForkServerProcess | None = None

    @cached_property
    def records(self) -> Any:
        return self.fleet.store().records

    @property
    def log(self) -> Path:
        return self.fleet.folder / f"{self.id}.log"

    def coordinate(self) -> ForkServerProcess:
        """Start a coordinator."""
        self.coordinator = stations.started("coordinate", self.id, self.fleet.env(), self.log)
        return self.coordinator

    def finalizer(self) -> ForkServerProcess:
        """Start a finalizer that passes points."""
        return stations.started("finalize", self.id, self.fleet.env(), self.log)

    def words(self) -> list[dict[str, Any]]:
        """Read what its coordinators said."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines if line.startswith("{") and '"event"' not in line]

    def count(self, file: str) -> int:
        """Count the attempts' records of a kind."""
        return sum(key.endswith(f"/{file}.json") for key in self.records.keys(attempts_prefix(self.id)))

    def sleepers(self) -> list[int]:
        """Name the sessions' own processes."""
        return [
            tree.pid for tree in processes() if tree.command.startswith("sleep ") and self.shape.mark in tree.command
        ]

    def wait(self, what: str, holds: Callable[[], bool], limit_s: float = LIMIT_S) -> None:
        """Wait for a condition; fail with what the coordinator said."""
        until = time.monotonic() + limit_s
        while not holds():
            assert time.monotonic() < until, f"{what}: not in {limit_s} s; {self.told()}"
            time.sleep(0.05)

    def told(self) -> str:
        """Tell how things are, for a person."""
        logs = [f"{path.name}: {path.read_text()[-1500:]}" for path in (self.log, *self.host_logs()) if path.exists()]
        code = None if self.coordinator is None else self.coordinator.exitcode
        return "\n".join([f"coordinator's exit {code}, claims {self.attempts()}", *logs])

    def host_logs(self) -> list[Path]:
        return [host.log for host in self.fleet.hosts.values()]

    def await_results(self, count: int) -> None:
        self.wait(f"{count} results", lambda: sum(1 for _ in self.records.keys(results_prefix(self.id))) >= count)

    def await_sessions(self, count: int = 4) -> None:
        self.wait(f"{count} processes of sessions", lambda: len(self.sleepers()) >= count)

    def await_fired(self, count: int = 1) -> None:
        self.wait(f"{count} points", lambda: self.fleet.points.fired() >= count)

    def await_waiting(self) -> int:
        """Wait for a process that waits at a point, and name it."""
        self.wait("somebody waits", lambda: bool(self.fleet.points.waiting()))
        return self.fleet.points.waiting()[0]

    def ticket(self, index: int, attempt: int = 1) -> Ticket:
        cell = self.plan.cells[index]
        queue = queue_of(needs(self.plan, self.plan.arm_by_name[cell.arm], None))
        return Ticket(sweep=self.id, plan=self.plan.digest, cell=cell.id, index=index, attempt=attempt, queue=queue)

    def all_outcomes(self) -> Outcomes:
        """Read the outcomes of all attempts, by cell and number."""
        found: Outcomes = {}
        for key in self.records.keys(attempts_prefix(self.id)):
            place = attempt_place(key.removeprefix(sweep_root(self.id)))
            if place is not None and place.file is AttemptFile.OUTCOME:
                outcome = parse_record(Outcome, self.records.read(key), key)
                found.setdefault(place.cell, {})[place.attempt] = outcome
        return found

    def attempts(self) -> int:
        """Count what was claimed so far."""
        return self.count("claim")

    def odd_cells(self) -> list[str]:
        return [cell.id for cell in self.plan.cells if cell.task == "odd"]

    def end(self, limit_s: float = LIMIT_S) -> dict[str, Any]:
        """Wait for the coordinator's own end; give its last word."""
        assert self.coordinator is not None
        self.coordinator.join(limit_s)
        said = self.words()
        assert self.coordinator.exitcode is not None, f"it did not end: {self.log.read_text()[-3000:]}"
        assert said, self.log.read_text()[-3000:]
        return said[-1]

    def finalize(self) -> int:
        """Finalize the sweep; give the exit code that `farm finalize` has."""
        return finish(self.id, self.fleet.store(), self.fleet.exchange).exit_code

    def farm(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start `farm`, past points and through the proxy."""
        with (self.fleet.folder / "farm.log").open("ab") as out:
            return subprocess.Popen(
                [str(FARM), *arguments],
                cwd=self.fleet.folder,
                env=self.fleet.env(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )


@contextmanager
def a_sweep(fleet: Fleet, shape: Shape) -> Iterator[Sweep]:
    """Submit a sweep; its coordinator ends with the block, however it stands."""
    folder = fleet.folder / f"{shape.name}"
    if not folder.exists():
        a_repository(folder / "repository", {"README": "Nothing here yet.\n"})
        (folder / "sweep.yaml").write_text(yaml.safe_dump(shape.document()))
    store = fleet.store()
    plan = drafting.draft_plan(folder / "sweep.yaml").deliver(store)
    assert len(plan.cells) == CELLS
    sweep = Sweep(fleet, shape, submit(plan, None, store.records, "tests", bootstrap.clock()), plan)
    try:
        yield sweep
    finally:
        if sweep.coordinator is not None:
            sweep.coordinator.kill()
            sweep.coordinator.join()
