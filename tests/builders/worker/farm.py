"""A one-sweep farm in memory around a real line: what the worker's tests start from."""

import io
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from farm.adapters.memory import MemoryEvents, MemoryLeases, MemoryLiveNotes, MemorySignals, MemoryStore
from farm.adapters.system_clock import SystemClock
from farm.errors import TransientError
from farm.model import (
    Arm,
    ArmRole,
    Cell,
    Digest,
    Limits,
    OracleSpec,
    Outcome,
    Pin,
    Plan,
    Result,
    Scope,
    Snapshot,
    SweepId,
    Task,
    Ticket,
    canonical_json,
    parse_record,
    sweep_id,
)
from farm.model.keys import outcome_key, plan_key, result_key
from farm.plugins import Plugins
from farm.ports import BlobStore, Clock, LeaseBook, Records
from farm.redaction import Redactor
from sandbox.spec import Sandbox
from worker.agents.command import CommandAgent
from worker.agents.installed import InstalledPrograms
from worker.agents.scripted import ScriptedAgent
from worker.agents.stand_in import StandInAgent
from worker.cell.line import CellLine
from worker.cell.ports import DoorPorts, Exchange, LinePorts, Place, Timing, Truth
from worker.gateway import Gateway, Upstream
from worker.health.fitness import Fitness
from worker.health.floor import Floor
from worker.health.host_hours import HostHours
from worker.oracles.answer import AnswerOracle
from worker.oracles.command import CommandOracle
from worker.oracles.files import FilesOracle
from worker.oracles.pytest_oracle import PytestOracle
from worker.oracles.vitest import VitestOracle
from worker.programs.claiming import ClaimingProgram
from worker.programs.direct import DirectProgram
from worker.programs.governed import GovernedProgram
from worker.programs.plan_work import PlanWorkProgram
from worker.programs.review import ReviewProgram
from worker.programs.single import SingleProgram
from worker.translator import Translator

FILES: Mapping[str, str] = {"README.md": "A repository.\n", "src/a.py": "A = 1\n", "src/b.py": "B = 2\n"}
SHORT = Limits(wall_s=20.0, output_bytes=1 << 16)
ANY = "*"

GIVEN: Mapping[str, Mapping[str, Any]] = {
    "agents": {"command": CommandAgent, "scripted": ScriptedAgent, "stand-in": StandInAgent},
    "programs": {
        "single": SingleProgram,
        "claiming": ClaimingProgram,
        "governed": GovernedProgram,
        "direct": DirectProgram,
        "plan-work": PlanWorkProgram,
        "review": ReviewProgram,
    },
    "oracles": {
        "answer": AnswerOracle,
        "command": CommandOracle,
        "files": FilesOracle,
        "pytest": PytestOracle,
        "vitest": VitestOracle,
    },
}
PLUGINS = Plugins(GIVEN)


def a_tar(files: Mapping[str, str | bytes]) -> bytes:
    """A deterministic tar of regular files; those that start with `#!` are executable."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for path in sorted(files):
            body = files[path]
            data = body.encode() if isinstance(body, str) else body
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(data), 0o755 if data.startswith(b"#!") else 0o644
            tar.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def says(*command: str) -> OracleSpec:
    """An oracle that runs a shell line and reads its exit; what it writes is kept."""
    return OracleSpec(kind="command", options={"argv": ["sh", "-c", *command]}, keep_output=True)


@dataclass
class Farm:
    """One sweep of one cell; replace a port to see what happens."""

    root: Path
    sandbox: Sandbox
    script: list[Any] = field(default_factory=list)
    oracle: OracleSpec = field(default_factory=lambda: says("true"))
    hidden: Mapping[str, str] | None = None
    files: Mapping[str, str] = field(default_factory=lambda: FILES)
    """The task's snapshot."""
    scope: Scope = field(default_factory=Scope)
    limits: Limits = SHORT
    task: Mapping[str, Any] = field(default_factory=dict)
    plan_extra: Mapping[str, Any] = field(default_factory=dict)
    overlay: Any = None
    assets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    agent: Pin | None = None
    """None: the scripted one, with `script`, or with `scripts` by session."""
    scripts: Mapping[str, list[Any]] | None = None
    program: Pin = field(default_factory=lambda: Pin(name="single", version="1"))
    provider: str | None = None
    requires: tuple[str, ...] = ()
    trials: int = 1
    timing: Timing = field(default_factory=Timing)
    clock: Clock = field(default_factory=SystemClock)
    store: MemoryStore = field(default_factory=MemoryStore)
    plugins: Plugins = PLUGINS
    hours: HostHours = field(default_factory=HostHours)
    floor: Floor = field(default_factory=Floor)
    agents: Path | None = None
    """Where agents' own programs stand."""

    def __post_init__(self) -> None:
        self.signals = MemorySignals()
        self.leases: LeaseBook = MemoryLeases(self.clock, self.signals)
        self.events = MemoryEvents()
        self.live = MemoryLiveNotes()
        self.fitness = Fitness()
        self.redactor = Redactor()
        self.gateway = Gateway(self.clock)
        self.translator = Translator(self.clock)
        self.upstreams: dict[str, Upstream] = {}
        self.offers: tuple[str, ...] = ()
        self.blobs: BlobStore = self.store.blobs
        self.records: Records = self.store.records
        self.plan = self._plan()
        self.sweep: SweepId = sweep_id(self.plan.name, self.plan.digest, 1)
        self.records.create(plan_key(self.sweep), canonical_json(self.plan))
        self.leases.open_sweep(self.sweep)

    @property
    def ticket(self) -> Ticket:
        return self.a_ticket(1)

    def a_ticket(self, attempt: int) -> Ticket:
        cell = self.plan.cells[0]
        return Ticket(sweep=self.sweep, plan=self.plan.digest, cell=cell.id, index=0, attempt=attempt)

    def upstream(self, name: str) -> Upstream:
        if name not in self.upstreams:
            raise TransientError(f"this host knows no provider {name!r}")
        return self.upstreams[name]

    def line(self, slot: int = 0) -> CellLine:
        exchange = Exchange(self.leases, self.signals, self.events, self.live)
        ports = LinePorts(
            exchange=exchange,
            truth=Truth(self.blobs, self.records),
            sandbox=self.sandbox,
            plugins=self.plugins,
            clock=self.clock,
            fitness=self.fitness,
            redactor=self.redactor,
            doors=DoorPorts(
                gateway=self.gateway,
                upstream=self.upstream,
                offers=lambda: self.offers,
                programs=InstalledPrograms(self.agents or self.root / "agents"),
                translator=self.translator,
            ),
        )
        place = Place("host-1", slot, self.root, f"host-1/{slot}", hours=self.hours, floor=self.floor)
        return CellLine(ports, place, self.timing)

    def outcome(self, attempt: int = 1) -> Outcome:
        key = outcome_key(self.sweep, self.plan.cells[0].id, attempt)
        body = self.records.read(key)
        assert body is not None, f"no {key}"
        return parse_record(Outcome, body, key)

    def result(self) -> Result | None:
        key = result_key(self.sweep, self.plan.cells[0].id)
        body = self.records.read(key)
        return None if body is None else parse_record(Result, body, key)

    def artifact(self, role: str, attempt: int = 1) -> bytes:
        digests = {one.role: one.digest for one in self.outcome(attempt).artifacts}
        return self.blobs.get(digests[role])

    def leftovers(self) -> list[Path]:
        """Everything that cells left below the work root."""
        return [path for area in ("cells", "stage") for path in self.root.glob(f"{area}/*/*")]

    def _scripts(self) -> dict[str, Any]:
        return {f"{ANY}/{name}": script for name, script in (self.scripts or {}).items()} or {ANY: self.script}

    def _plan(self) -> Plan:
        put: Callable[[bytes], Digest] = self.blobs.put
        tree = a_tar(self.files)
        hidden = put(a_tar(self.hidden)) if self.hidden is not None else None
        task = Task(
            id="fix",
            snapshot=Snapshot(commit="0" * 40, tree=put(tree), size_bytes=len(tree)),
            prompt=put(b"Fix it."),
            scope=self.scope,
            oracle=self.oracle.model_copy(update={"files": hidden}),
            limits=self.limits,
            **self.task,
        )
        arm = Arm(
            name="base",
            role=ArmRole.INCUMBENT,
            agent=self.agent or Pin(name="scripted", version="1", options={"scripts": self._scripts()}),
            program=self.program,
            provider=self.provider,
            requires=self.requires,
            overlay=self.overlay,
            assets={name: put(a_tar(files)) for name, files in self.assets.items()},
        )
        made = Plan(
            name="small",
            farm_version="0",
            tasks=(task,),
            arms=(arm,),
            trials=self.trials,
            cells=tuple(Cell(task="fix", arm="base", trial=trial + 1) for trial in range(self.trials)),
        )
        return made.model_copy(update=dict(self.plan_extra))
