"""The doors of one attempt: one for each session whose arm names a provider, all on one purse.

A session that could not be what it was meant to be because its provider did not answer has proven nothing about the
arm: that is the provider's fault, and the attempt's. All else that a provider says is the session's own business.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from farm.errors import TransientError
from farm.model import DoorReport, ExitReason, FaultKind, RequestEnd, SessionReport, Wire
from sandbox.spec import Bind
from worker.cell.attempt import Attempt
from worker.cell.cast import Cast
from worker.cell.ports import DoorPorts
from worker.cell.stops import ProviderFailedError
from worker.cell.translation import Translation, TwoDoors, can_translate
from worker.gateway import OpenDoor, Pass, Purse, Upstream
from worker.session import AGENT, AgentProgram
from worker.staging.ground import CellFolder

_FAULTS = {
    RequestEnd.RATE_LIMITED: FaultKind.RATE_LIMIT,
    RequestEnd.UNAVAILABLE: FaultKind.PROVIDER,
    RequestEnd.STALLED: FaultKind.PROVIDER,
    RequestEnd.CUT: FaultKind.PROVIDER,
    RequestEnd.DENIED: FaultKind.ACCESS,
}


@dataclass(frozen=True, slots=True)
class SessionDoor:
    """An open door: where its socket is, and what goes through it."""

    socket: Path
    traffic: OpenDoor | TwoDoors


@dataclass(frozen=True, slots=True)
class Doors:
    """Opens the doors of one attempt."""

    ports: DoorPorts
    attempt: Attempt
    folder: CellFolder
    upstream: Upstream | None
    """None: the arm names no provider, and no session has a door."""
    purse: Purse
    must_stop: Callable[[], bool]

    def wire(self, wires: tuple[Wire, ...]) -> Wire | None:
        """Choose the first of an agent's wires that the provider speaks, or else that can be translated for it.

        Raises TransientError when there is none.
        """
        if self.upstream is None:
            return None
        for wire in wires:
            if wire in self.upstream.wires:
                return wire
        for wire in wires:
            if can_translate(wire, self.upstream):
                return wire
        spoken = ", ".join(sorted(self.upstream.wires))
        raise TransientError(
            f"the provider {self.upstream.name!r} of this host speaks {spoken}, and the agent needs one of "
            f"{', '.join(wires)}; correct FARM_PROVIDERS"
        )

    def program(self, wanted: AgentProgram | None) -> tuple[Bind, ...]:
        """Bind the agent's own program; TransientError, which says what to do, when this host does not have it."""
        if wanted is None:
            return ()
        return (Bind(self.ports.programs.place(wanted), AGENT),)

    @contextmanager
    def open(self, name: str, models: tuple[str, ...], wire: Wire | None) -> Iterator[SessionDoor | None]:
        """Open the door of the session called `name` for the block; what it used is kept, however the block ends."""
        if self.upstream is None:
            self.attempt.doors.append(None)
            yield None
            return
        socket, pass_ = self.folder.new_socket(), Pass(self.upstream, models, self.purse)
        way = self._direct(socket, pass_) if wire in self.upstream.wires else self._translated(socket, pass_)
        traffic: OpenDoor | TwoDoors | None = None
        try:
            with way as traffic:
                yield SessionDoor(socket, traffic)
        finally:
            if traffic is not None:
                self.attempt.doors.append(traffic.report())
                self.attempt.keeper.keep(f"session.{name}.usage", "application/jsonl", traffic.log())

    def _direct(self, socket: Path, pass_: Pass) -> AbstractContextManager[OpenDoor]:
        return self.ports.gateway.open(socket, self._owner, pass_, self.attempt.narration.note_pressure)

    def _translated(self, socket: Path, pass_: Pass) -> AbstractContextManager[TwoDoors]:
        ports = self.ports
        doors = Translation(ports.gateway, ports.translator, self.must_stop, self.attempt.narration.note_pressure)
        return doors.open(socket, self._owner, pass_, self.folder.new_socket())

    @property
    def _owner(self) -> tuple[int, int]:
        return (self.folder.owner.uid, self.folder.owner.gid)


def doors(cast: Cast, attempt: Attempt, folder: CellFolder, ports: DoorPorts, must_stop: Callable[[], bool]) -> Doors:
    """Make an attempt's doors; raise TransientError when this host does not know the provider, or its key."""
    upstream = None if cast.arm.provider is None else ports.upstream(cast.arm.provider)
    return Doors(ports, attempt, folder, upstream, Purse(cast.plan.cell_budget, cast.prices), must_stop)


def with_door(report: SessionReport, door: DoorReport) -> SessionReport:
    """Put what the door saw into a session's report; raise ProviderFailedError when its provider failed it."""
    _ensure_provider_answered(report, door)
    if report.problem is not None and door.ends.get(RequestEnd.OVER_BUDGET):
        return report.model_copy(
            update={
                "door": door,
                "reason": ExitReason.BUDGET_LIMIT,
                "problem": f"the cell's budget was used up: {door.last_failure_detail or 'no request went through'}",
            }
        )
    return report.model_copy(update={"door": door})


def _ensure_provider_answered(report: SessionReport, door: DoorReport) -> None:
    """Raise when the provider failed last and the session did not get over it, or when it never answered at all."""
    failure = door.last_failure
    never_answered = not door.ends.get(RequestEnd.ANSWERED)
    if failure is None or (report.problem is None and not never_answered):
        return
    kind = _FAULTS.get(failure)
    if failure is RequestEnd.MALFORMED and never_answered:
        kind = FaultKind.PROVIDER
    if kind is None:
        return
    said = door.last_failure_detail or failure
    raise ProviderFailedError(kind, f"provider {door.provider!r}: {said}", door.retry_after_s)
