"""The sessions of one attempt: what an arm's program may ask the line for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from farm.errors import SpecError
from farm.model import ExitKind, ExitReason, Governed, ProcessExit, SessionReport, Task
from sandbox.spec import Bind, Door, Stream
from worker.agents.tail import Tail
from worker.cell.attempt import Attempt
from worker.cell.boundary import Boundary
from worker.cell.boxes import Boxes, SessionBox, disk_limit, process_exit
from worker.cell.carrying import carry, lay_home_files, own_share
from worker.cell.cast import Cast
from worker.cell.doors import Doors, SessionDoor, with_door
from worker.cell.hours import Hourglass
from worker.cell.pulse import Pulse
from worker.collect.outputs import take_artifact
from worker.collect.streams import RawStreams
from worker.phases import FREE, ArtifactPlace, Phase, PhaseEnd, PhaseError
from worker.session import DOOR_PORT, Agent, Launch, SessionRequest, Standstill, Witnessing, asset_path
from worker.trees.copying import give

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_UNEXPLAINED = frozenset({ExitReason.CRASHED, ExitReason.STREAM_INVALID})
_MOST_LAST_BYTES = 8192


@dataclass(frozen=True, slots=True)
class _Lasting:
    home: Path
    report: SessionReport
    """As the agent told it: what it counts on is not taken out."""


@dataclass(frozen=True, slots=True)
class CellSessions:
    """Runs sessions one after the other in the cell's sandbox; each has a fresh home, all share the workspace."""

    cast: Cast
    attempt: Attempt
    boxes: Boxes
    doors: Doors
    pulse: Pulse
    hourglass: Hourglass
    boundary: Boundary
    still: Standstill
    assets: Mapping[str, Path] = field(default_factory=dict)
    """What the arm brings, by name."""
    names: set[str] = field(default_factory=set)
    works: list[tuple[str, ...]] = field(default_factory=list)
    """Of each phase that was to work, the globs of what is none."""
    lasting: dict[str, _Lasting] = field(default_factory=dict)
    """Sessions that another may go on with."""
    conclusions: list[Governed] = field(default_factory=list)
    """What the program said at last that the run claims."""

    @property
    def task(self) -> Task:
        return self.cast.task

    @property
    def governed(self) -> Governed | None:
        """Give what the program concluded; None: it concluded nothing."""
        return self.conclusions[-1] if self.conclusions else None

    @property
    def work_beside(self) -> tuple[str, ...] | None:
        """List the globs of what is no work; None: none was expected."""
        return tuple(dict.fromkeys(glob for globs in self.works for glob in globs)) if self.works else None

    def run(self, name: str, prompt: str) -> SessionReport:
        """Run one session; raise StoppedError when the attempt must stop, its partial streams kept."""
        return self.run_phase(name, prompt, FREE).report

    def run_phase(self, name: str, prompt: str, phase: Phase) -> PhaseEnd:
        """Run one as `run` does; raise PhaseError when it broke the phase's bounds."""
        self.pulse.check()
        self.hourglass.ensure_time()
        self._take_name(name)
        if phase.work_beside is not None:
            self.works.append(phase.work_beside)
        self.boundary.before(name, phase)
        if phase.artifact is not None:
            self._make_room(name, phase, phase.artifact)
        ended = self._ended(name, prompt, phase)
        self.pulse.check()
        if phase.artifact is not None:
            self._take_artifact(phase.artifact)
        return PhaseEnd(ended.report, self.boundary.after(name, phase), ended.calls)

    def conclude(self, governed: Governed) -> None:
        self.conclusions.append(governed)

    def _ended(self, name: str, prompt: str, phase: Phase) -> PhaseEnd:
        cast, agent = self.cast, self.cast.agent_for(phase.demand)
        wire = self.doors.wire(agent.wires)
        before = self._before(phase)
        request = SessionRequest(
            name=name,
            cell=cast.cell,
            task=cast.task,
            prompt=prompt,
            instructions=cast.instructions,
            wire=wire,
            continues=None if before is None else before.report,
        )
        launch = agent.launch(request)
        parser = agent.parser(name)
        self.attempt.narration.follow(name, parser)
        with self.doors.open(name, launch.models, wire) as door:
            streams = RawStreams(self.boxes.folder.path, name, parser.feed)
            started = _Started(agent, launch, streams, phase, None if before is None else before.home)
            ran = self._run(started, door)
        whole = parser.finish(ran.exit)
        if phase.demand.lasting and ran.home is not None:
            self.lasting[name] = _Lasting(ran.home, whole)
        report = whole if before is None else own_share(whole, before.report, launch.counts_on)
        report = with_last_words(report, streams)
        calls = parser.calls() if isinstance(parser, Witnessing) else None
        return PhaseEnd(report if door is None else with_door(report, door.traffic.report()), None, calls)

    def _before(self, phase: Phase) -> _Lasting | None:
        if phase.continues is None:
            return None
        if phase.continues not in self.lasting:
            raise SpecError(
                f"the program {self.cast.arm.program.name!r} goes on with {phase.continues!r}: no session that lasts"
            )
        return self.lasting[phase.continues]

    def _make_room(self, name: str, phase: Phase, artifact: ArtifactPlace) -> None:
        """Make the artifact's folder; one that is there already was made by an earlier session."""
        folder = self.boxes.folder
        place = folder.out / artifact.folder
        try:
            place.mkdir(mode=0o700)
        except FileExistsError:
            what = f"can't begin: an earlier one made {artifact.folder!r}, where its artifact is to be"
            raise PhaseError(phase.fault, name, what) from None
        give(place, folder.owner)

    def _take_artifact(self, artifact: ArtifactPlace) -> None:
        body = take_artifact(self.boxes.folder.out, artifact.path, artifact.most_bytes)
        self.attempt.artifacts[artifact.role] = body
        if isinstance(body, bytes):
            self.attempt.keeper.keep(artifact.role, artifact.media_type, body)

    def _take_name(self, name: str) -> None:
        if not _NAME.fullmatch(name) or name in self.names:
            raise SpecError(
                f"the program {self.cast.arm.program.name!r} runs a session {name!r}: not a new, plain name"
            )
        self.names.add(name)

    def _run(self, started: "_Started", door: SessionDoor | None) -> "_Run":
        folder, launch, streams = self.boxes.folder, started.launch, started.streams
        try:
            home, tmp = folder.new_home(), folder.new_tmp()
            lay_home_files(launch, home, folder.owner)
        except OSError as error:
            # An earlier session used the disk up: that this one can't start is the arm's doing.
            return _Run(disk_limit(folder.disk_of(folder.workspace), error), None)
        if started.before is not None:
            carry(launch.carries, started.before, home, folder.owner)
        way_out = None if door is None else Door(door.socket, DOOR_PORT)
        beside = (*self.doors.program(started.agent.program), *self._assets(launch))
        box = SessionBox(launch, home, self.cast.task.limits, beside, way_out, tmp, started.phase.is_writable)
        cut: tuple[Stream, ...] = ()
        try:
            ended = self.boxes.run_session(box, streams.sink)
            cut = ended.cut
        finally:
            streams.close()
            streams.keep(self.attempt.keeper, cut)
        return _Run(process_exit(ended), home)

    def _assets(self, launch: Launch) -> tuple[Bind, ...]:
        places = {asset_path(name): name for name in self.assets} | dict(launch.asset_views)
        return tuple(Bind(self.assets[name], place) for place, name in places.items())


@dataclass(frozen=True, slots=True)
class _Started:
    agent: Agent
    launch: Launch
    streams: RawStreams
    phase: Phase
    before: Path | None = None
    """The home of the session that it goes on with."""


@dataclass(frozen=True, slots=True)
class _Run:
    exit: ProcessExit
    home: Path | None
    """None: it could not start."""


def with_last_words(report: SessionReport, streams: RawStreams) -> SessionReport:
    """Tell how the output of a session ended that failed by its exit code, where no event and no stderr says why."""
    if report.exit.kind is not ExitKind.EXITED or report.exit.is_zero or report.reason not in _UNEXPLAINED:
        return report
    tail = Tail()
    tail.feed(streams.end_of_stdout(_MOST_LAST_BYTES))
    if tail.text is None or tail.text in (report.problem or ""):
        return report
    return report.model_copy(update={"problem": f"{report.problem}; its output ends: {tail.text}"})
