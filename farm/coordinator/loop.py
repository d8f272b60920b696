"""The coordinator's loop: leads one sweep from replay to its close, through any outage."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import structlog

from farm.coordinator.mandate import Mandate
from farm.coordinator.ports import CoordinatorPorts, Rhythm
from farm.coordinator.progress import Progress
from farm.coordinator.shell import LeftOpen, Shell
from farm.coordinator.sweep_records import Ended, SweepRecords
from farm.errors import ConflictError, TransientError
from farm.model import SweepId

_log = structlog.get_logger()
_WHOLE = Mandate()


class EndKind(StrEnum):
    """How a coordinator's run ended."""

    CLOSED = "closed"
    LEFT_OPEN = "left-open"
    """Cells wait for a later run: put aside by a window, a budget, a worker's shutdown."""
    INTERRUPTED = "interrupted"
    """We were told to stop; the sweep stays open for `resume`."""


@dataclass(frozen=True, slots=True)
class CoordinatorEnd:
    """The end of a run; `close` stands when the sweep is closed, `left_open` when cells wait for a later run."""

    kind: EndKind
    close: Ended | None = None
    left_open: LeftOpen | None = None


@dataclass(slots=True)
class _Periodic:
    """A duty; one that fails is due again at once."""

    period_s: float
    act: Callable[[], None]
    last_s: float | None = None

    def run(self, now_s: float) -> None:
        if self.last_s is None or now_s - self.last_s >= self.period_s:
            self.act()
            self.last_s = now_s


class Coordinator:
    """Coordinates one sweep or shard; a second one of the same sweep on the same Redis gets ConflictError."""

    def __init__(
        self,
        sweep: SweepId,
        holder: str,
        ports: CoordinatorPorts,
        rhythm: Rhythm | None = None,
        mandate: Mandate = _WHOLE,
    ) -> None:
        shard = mandate.shard
        self._sweep = sweep
        self._mandate = mandate
        self._holder = holder
        self._ports = ports
        self._rhythm = rhythm or Rhythm()
        self._log = _log.bind(sweep=sweep) if shard is None else _log.bind(sweep=sweep, shard=str(shard))
        self._shell: Shell | None = None
        self._duties: tuple[_Periodic, ...] = ()
        self._is_out = False

    def run(self, should_stop: Callable[[], bool], progress: Callable[[Progress], None]) -> CoordinatorEnd:
        """Go on until the sweep closes, is left open, or `should_stop`; outages are waited out.

        Raises ConflictError when another coordinator leads the sweep, IntegrityError when a record is not what it
        should be, SpecError when the store has no such sweep. In each case the sweep stays open.
        """
        try:
            while not should_stop():
                end = self._try_step(progress)
                if end is not None:
                    return end
            self._leave_checkpoint()
            return CoordinatorEnd(EndKind.INTERRUPTED)
        finally:
            self._resign()

    def _try_step(self, progress: Callable[[Progress], None]) -> CoordinatorEnd | None:
        try:
            end = self._step(progress)
        except TransientError as error:
            self._wait_out(error, progress)
            return None
        if self._is_out:
            self._log.info("outage.ended")
            self._is_out = False
        return end

    def _step(self, progress: Callable[[Progress], None]) -> CoordinatorEnd | None:
        shell = self._shell or self._start(progress)
        for duty in self._duties:
            duty.run(self._ports.clock.monotonic())
        shell.end_waits()
        shell.work_off()
        if not shell.is_over:
            shell.receive(self._rhythm.receive_s)
            return None
        shell.keep_checkpoint()
        progress(shell.progress())
        kind = EndKind.LEFT_OPEN if shell.close is None else EndKind.CLOSED
        return CoordinatorEnd(kind, shell.close, shell.left_open)

    def _start(self, progress: Callable[[Progress], None]) -> Shell:
        self._lead()
        records = SweepRecords(self._ports.records, self._sweep, self._mandate.shard)
        shell = Shell(records, self._ports, self._rhythm, self._mandate.budget_of(records.plan))
        shell.replay()
        if records.close() is None and records.cancel() is None:
            self._ports.signals.withdraw_stop(self._sweep)
        rhythm = self._rhythm
        self._duties = (
            _Periodic(rhythm.lead_s, self._lead),
            _Periodic(rhythm.orders_s, shell.see_orders),
            _Periodic(rhythm.repair_s, lambda: None if shell.is_over else shell.repair()),
            _Periodic(rhythm.slots_s, shell.see_fleet),
            _Periodic(rhythm.leases_s, shell.see_leases),
            _Periodic(rhythm.progress_s, lambda: progress(shell.progress())),
            _Periodic(rhythm.checkpoint_s, shell.keep_checkpoint),
        )
        self._shell = shell
        return shell

    def _lead(self) -> None:
        if not self._ports.leadership.lead(self._sweep, self._holder, self._rhythm.lead_ttl_s):
            raise ConflictError(f"another coordinator leads sweep {self._sweep}; watch it with `farm status` instead")

    def _wait_out(self, error: TransientError, progress: Callable[[Progress], None]) -> None:
        if not self._is_out:
            self._is_out = True
            self._log.warning("outage.began", error=str(error))
            if self._shell is not None:
                progress(self._shell.progress(outage=str(error)))
        self._ports.clock.sleep(min(error.retry_after_s or self._rhythm.outage_s, self._rhythm.outage_s))

    def _leave_checkpoint(self) -> None:
        try:
            if self._shell is not None:
                self._shell.keep_checkpoint()
        except TransientError:
            self._log.info("checkpoint.left_out")

    def _resign(self) -> None:
        try:
            if self._shell is not None:
                self._shell.leave_fleet()
            self._ports.leadership.resign(self._sweep, self._holder)
        except TransientError:
            self._log.info("lead.left_to_expire")
