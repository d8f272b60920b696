"""One session of a real agent: its program in a real sandbox, a gateway at its door, a provider behind it."""

import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from farm.model import DoorReport, SessionReport, Wire
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.spec import Bind, Door, Limits, SandboxSpec, Stream, ToolRoom
from tests.builders.worker.recorded import a_request
from worker.agents.installed import InstalledPrograms
from worker.cell.boxes import process_exit
from worker.cell.carrying import lay_home_files
from worker.gateway import Gateway, Pass, Purse, Upstream
from worker.session import AGENT, HOME, OUT, WORKSPACE, Agent, Launch, asset_path
from worker.trees.copying import Ownership, give

REAL_KEY = "sk-real-0123456789abcdef"
MIB = 1 << 20


@dataclass
class Lived:
    """What came of a session."""

    report: SessionReport
    door: DoorReport
    stdout: bytes
    files: dict[str, bytes]
    """What stands in the workspace."""
    seen: list[int]
    """Processes of the session at the moment when it was told to stop."""
    survivors: list[int]
    """Processes of the session that are still alive."""


@dataclass
class Stage:
    """Where sessions of real agents can run."""

    sandbox: Bubblewrap
    root: Path
    gateway: Gateway
    programs: InstalledPrograms
    assets: dict[str, dict[str, str]] = field(default_factory=dict)
    """What the arm brings: files by name, by the asset's name."""
    wire: Wire | None = None
    """What sessions speak; None: what their agents do by default."""
    wall_s: float = 90.0
    """The limit of time of a session."""
    cells: list[Path] = field(default_factory=list)

    def play(
        self,
        agent: Agent,
        url: str | None,
        *,
        workspace: Mapping[str, str] | None = None,
        instructions: str | None = None,
        stop: Callable[[Path, bytes], bool] = lambda _workspace, _said: False,
    ) -> Lived:
        """Run one session whose provider is at `url`, None: nowhere; `stop` sees its workspace and what it said."""
        cell, owner = self._cell(workspace or {})
        launch = agent.launch(a_request("Write hello.txt.", instructions, self.wire))
        lay_home_files(launch, cell / "home", owner)
        parser, said, mark = agent.parser("work"), bytearray(), secrets.token_hex(8)
        told: list[bool] = []
        seen: list[int] = []
        pass_ = Pass(
            Upstream("scripted", frozenset(Wire), url or "http://127.0.0.1:9", REAL_KEY),
            launch.models,
            Purse(None, None),
        )

        def sink(stream: Stream, chunk: bytes) -> None:
            parser.feed(stream, chunk)
            said.extend(chunk if stream is Stream.STDOUT else b"")

        def must_stop() -> bool:
            if not told and stop(cell / "ws", bytes(said)):
                told.append(True)
                seen.extend(_marked(mark))
            return bool(told)

        with self.gateway.open(cell / "door", (owner.uid, owner.gid), pass_) as door:
            box = self._box(agent, launch, cell, mark, has_door=url is not None)
            ended = self.sandbox.run(box, sink, must_stop)
        return Lived(
            report=parser.finish(process_exit(ended)),
            door=door.report(),
            stdout=bytes(said),
            files={str(file.relative_to(cell / "ws")): file.read_bytes() for file in _files(cell / "ws")},
            seen=seen,
            survivors=_marked(mark),
        )

    def _box(self, agent: Agent, launch: Launch, cell: Path, mark: str, *, has_door: bool) -> SandboxSpec:
        program = () if agent.program is None else (Bind(self.programs.place(agent.program), AGENT),)
        return SandboxSpec(
            argv=launch.argv,
            binds=(
                Bind(cell / "home", HOME, writable=True),
                Bind(cell / "ws", WORKSPACE, writable=True),
                Bind(cell / "out", OUT, writable=True),
                *program,
                *(Bind(cell / "assets" / name, asset_path(name)) for name in self.assets),
            ),
            limits=Limits(self.wall_s, 4096 * MIB, 512, 1024 * MIB, 4096, 8 * MIB, 256 * MIB),
            cwd=WORKSPACE,
            env={**launch.env, "FARM_MARK": mark},
            stdin=launch.stdin,
            door=Door(cell / "door") if has_door else None,
            tools=ToolRoom(cell / "tools") if launch.runs_tools else None,
        )

    def _cell(self, workspace: Mapping[str, str]) -> tuple[Path, Ownership]:
        owner = Ownership(*self.sandbox.owner(0))
        cell = self.root / f"live-{secrets.token_hex(4)}"
        cell.mkdir(mode=0o711)
        self.cells.append(cell)
        for name in ("home", "ws", "out"):
            (cell / name).mkdir(mode=0o700)
        for name, text in workspace.items():
            (cell / "ws" / name).parent.mkdir(parents=True, exist_ok=True)
            (cell / "ws" / name).write_text(text)
        for asset, files in self.assets.items():
            for name, text in files.items():
                place = cell / "assets" / asset / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)
        for path in (cell / "home", cell / "out", cell / "ws", *(cell / "ws").rglob("*")):
            give(path, owner)
        return cell, owner

    def clear(self) -> None:
        for cell in self.cells:
            shutil.rmtree(cell)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


def _marked(mark: str) -> list[int]:
    """Find processes by a variable that every one of a session inherits."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:  # it is gone, or another user's
                continue
            if mark.encode() in environment:
                found.append(int(entry.name))
    return found
