"""The shell around the machine: carries out its effects, and finds in the store what it is to be told.

What must stay true: whatever a worker says is a hint until the store shows it; every step can be broken off by a
TransientError and taken again, since an effect or a hint is dropped only when it is done.
"""

from collections import deque
from dataclasses import dataclass, replace
from typing import assert_never

import structlog

from farm.coordinator import effects as out
from farm.coordinator import events as on
from farm.coordinator.budget import Budget, Spend
from farm.coordinator.checkpoints import Checkpoints
from farm.coordinator.effects import Effect
from farm.coordinator.events import Event
from farm.coordinator.fleet import Fleet, waits_for
from farm.coordinator.fleet_hours import FleetHours, needs_s
from farm.coordinator.lanes import Lanes
from farm.coordinator.machine import Policies, Stage, advance, begin
from farm.coordinator.ports import CoordinatorPorts, Rhythm
from farm.coordinator.progress import Progress, Pulse, Tally
from farm.coordinator.queues import QUEUE_TTL_S, CellQueues, providers
from farm.coordinator.replay import read_history
from farm.coordinator.sharing import Sharing
from farm.coordinator.sweep_records import Ended, SweepRecords
from farm.coordinator.watch import Suspect, Watch
from farm.coordinator.window import Phase
from farm.model import CellEvent, EventKind, FaultKind, Outcome, RequestEnd, Ticket

_log = structlog.get_logger()

_TURN_S = 2.0
"""Less than a coordinator's duties can wait."""
_PRESSING = frozenset({RequestEnd.RATE_LIMITED, RequestEnd.UNAVAILABLE, RequestEnd.STALLED})


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """Why a sweep stays open, and for what."""

    why: frozenset[out.Deferral]
    cells: int
    """How many wait."""
    needs_s: float
    """The least that one of them needs of a time window; 0 when none waits for one."""
    budget: str = ""
    """How much of the budget is used; empty without one."""


@dataclass(frozen=True, slots=True)
class _Wait:
    attempt: int
    until_s: float


@dataclass(frozen=True, slots=True)
class _Held:
    number: int
    until_s: float


class Shell:
    """One sweep's dispatch, from replay to its end."""

    def __init__(self, records: SweepRecords, ports: CoordinatorPorts, rhythm: Rhythm, budget: Budget) -> None:
        self._records = records
        self._ports = ports
        self._log = _log.bind(sweep=records.sweep)
        self._watch = Watch(rhythm)
        self._tally = Tally(records.sweep, records.plan, frozenset(records.elsewhere))
        self._checkpoints = Checkpoints(ports.records, records.plan, records.part, self._tally)
        self._queues = CellQueues(records.plan)
        self._effects = deque[Effect]()
        self._hints = deque[CellEvent]()
        self._waits = dict[int, _Wait]()
        self._holds = dict[str, _Held]()
        plan = records.plan
        self._hours = FleetHours(plan, ports.leases)
        self._sharing = Sharing(f"{records.sweep}/{records.part}", plan, self._queues, ports.shares)
        self._state = begin(
            len(plan.cells), Policies.of(plan, budget), providers(plan), records.elsewhere, needs_s=needs_s(plan)
        )
        self._state = replace(self._state, lanes=Lanes.numbered(self._queues.lanes(plan)), reused=plan.reused_indices)
        self._started_s = ports.clock.monotonic()
        self._fleet = Fleet()
        self._bug = ""
        self.close: Ended | None = None
        self.left_open: LeftOpen | None = None

    @property
    def is_over(self) -> bool:
        return self.close is not None or self.left_open is not None

    def replay(self) -> None:
        """Take in what earlier runs recorded; then the fleet, with which dispatch begins."""
        history = read_history(self._records)
        restored = self._checkpoints.restore(history.settled)
        if restored is not None:
            self._tell(restored)
        for index in history.settled:
            if not self._state.ledger.has(index):
                self._take_result(index)
        for known in history.attempted:
            stored = self._records.outcome(known.index, known.attempt) if known.has_outcome else None
            is_open = stored is not None and stored.outcome.is_interrupted
            self._tell(on.Replayed(known.index, known.attempt, is_over=is_open))
            for attempt, earlier in enumerate(self._earlier_spending(known.index, known.attempt), 1):
                self._tell(on.Spent(known.index, attempt, earlier))
            if stored is not None:
                self._tell_end(known.index, stored.outcome)
        self._tally.start()
        self._log.info("sweep.replayed", settled=len(history.settled), attempted=len(history.attempted))

    def keep_checkpoint(self) -> None:
        """Note in the store what is counted; a sweep with a bug is to be looked at from its records."""
        if not self._bug:
            self._checkpoints.keep()

    def repair(self) -> None:
        """Tell hosts and the lease book again what they must know of a sweep under way: Redis may have been wiped."""
        if self._state.stage is not Stage.DISPATCHING:
            return
        for needed in self._queues.needed:
            self._ports.queues.open(needed, QUEUE_TTL_S)
        self._ports.leases.open_sweep(self._records.sweep, self._state.paused_from)
        for index, live in self._state.window.cells.items():
            if live.attempt > 1:
                self._ports.leases.announce(self._ticket(index, live.attempt))

    def work_off(self) -> None:
        """Follow the hints that came, and carry out what the machine wants; what takes long goes on next turn."""
        until_s = self._ports.clock.monotonic() + _TURN_S
        while (self._effects or self._hints) and not self.is_over and self._ports.clock.monotonic() <= until_s:
            if self._effects:
                self._perform(self._effects[0])
                self._effects.popleft()
            else:
                self._follow(self._hints[0])
                self._hints.popleft()

    def receive(self, timeout_s: float) -> None:
        """Wait for hints."""
        self._hints.extend(self._ports.events.receive(self._records.sweep, timeout_s))

    def see_fleet(self) -> None:
        """Look at the live hosts."""
        hosts = self._ports.hosts.live()
        self._tell(on.TimeLeft(self._hours.left_s(hosts)))
        self._fleet = Fleet.of(hosts, self._records.plan, self._queues)
        now_s = self._ports.clock.monotonic()
        self._tell(on.QuotaChanged(self._sharing.take(self._state, hosts, self._fleet.slots, now_s)))
        self._tell(on.SlotsChanged(self._fleet.slots, self._fleet.closed))

    def leave_fleet(self) -> None:
        """Leave our share to the others."""
        self._sharing.end()

    def see_orders(self) -> None:
        """Look for a person's word in the store, and at the deadline."""
        close = self._records.close()
        if close is not None:
            self._ports.leases.close_sweep(self._records.sweep)
            self.close = close
        elif self._records.cancel() is not None:
            self._tell(on.CancelAsked())
        else:
            self._see_deadline()

    def _see_deadline(self) -> None:
        limit_s = self._records.plan.deadline_s
        elapsed = self._ports.clock.now() - self._records.opening.opened_at
        if limit_s is not None and elapsed.total_seconds() >= limit_s:
            self._tell(on.DeadlineReached())

    def see_leases(self) -> None:
        """Compare the live leases with what we believe, and look into the silent cells."""
        leases = self._ports.leases.live(self._records.sweep)
        for lease in leases:
            self._tell(on.Claimed(lease.index, lease.attempt))
        now_s = self._ports.clock.monotonic()
        held = frozenset(lease.index for lease in leases)
        for suspect in tuple(self._watch.absent(self._state.window, held, now_s)):
            self._look_into(suspect)
        for suspect in tuple(self._watch.overdue(self._state.window, now_s, self._has_idle_slots)):
            self._look_into(suspect)
        for suspect in tuple(self._watch.late(self._state.window, self._state.hours.fits, now_s)):
            self._look_into(suspect)

    def _has_idle_slots(self, index: int) -> bool:
        return self._queues.of(self._records.plan.cells[index]) in self._fleet.idle

    def end_waits(self) -> None:
        """Say which waits are over."""
        now_s = self._ports.clock.monotonic()
        for index, wait in tuple(self._waits.items()):
            if wait.until_s <= now_s:
                del self._waits[index]
                self._tell(on.WaitOver(index, wait.attempt))
        for provider, held in tuple(self._holds.items()):
            if held.until_s <= now_s:
                del self._holds[provider]
                self._tell(on.HoldOver(provider, held.number))

    def progress(self, outage: str | None = None) -> Progress:
        """Say how far the sweep is."""
        cells = self._state.window.cells
        return self._tally.progress(
            Pulse(
                running=[index for index, live in cells.items() if live.phase is Phase.RUNNING],
                elapsed_s=self._ports.clock.monotonic() - self._started_s,
                is_paused=self._state.paused_from is not None,
                waiting=outage or waits_for(self._state, self._fleet, self._watch.refusals),
                budget=self._state.budget.words,
            )
        )

    def _tell(self, event: Event) -> None:
        self._state, effects = advance(self._state, event)
        self._effects.extend(effects)

    def _follow(self, hint: CellEvent) -> None:
        if not 0 <= hint.index < self._state.cells or self._state.ledger.has(hint.index):
            return
        match hint.kind:
            case EventKind.CLAIMED:
                self._watch.begun(hint.index, hint.attempt)
                self._tell(on.Claimed(hint.index, hint.attempt))
            case EventKind.FINISHED:
                if not self._look(hint.index, hint.attempt):
                    self._watch.finished_without_trace(hint.index, hint.attempt)
            case EventKind.PRESSURE:
                if hint.pressure is not None:
                    self._tally.note_pressure(hint.index, hint.pressure)
                    if _PRESSING.intersection(hint.pressure.ends):
                        self._tell(on.Pressed(hint.index, hint.attempt, hint.pressure.retry_after_s))
            case _:
                assert_never(hint.kind)

    def _look(self, index: int, attempt: int) -> bool:
        """Tell the machine what the store holds of the cell; False when its current attempt has left no trace."""
        live = self._state.window.cells.get(index)
        if self._take_result(index) or live is None or live.attempt != attempt:
            return True
        stored = self._records.outcome(index, attempt)
        if stored is None:
            return False
        if stored.outcome.late:
            self.see_orders()  # somebody has settled the sweep without it
            return True
        if stored.outcome.fault is not None:
            self._explain(index, attempt, stored.outcome.fault.detail)
        self._tell_end(index, stored.outcome)
        return True

    def _earlier_spending(self, index: int, attempt: int) -> tuple[Spend, ...]:
        """Say what the attempts before this one used, where it matters."""
        if not self._state.pays(index):
            return ()
        return tuple(Spend.of(outcome) for outcome in self._records.earlier(index, attempt))

    def _tell_end(self, index: int, outcome: Outcome) -> None:
        self._tell(on.Spent(index, outcome.attempt, Spend.of(outcome)))
        self._tell(self._end_of(index, outcome))

    def _end_of(self, index: int, outcome: Outcome) -> on.AttemptEnded:
        """Put together what the machine is told of an outcome; evidence needs no look at earlier attempts."""
        interrupted = 0 if outcome.is_usable else self._records.interrupted(index, outcome.attempt)
        return on.AttemptEnded(index, outcome.attempt, outcome.fault, interrupted)

    def _take_result(self, index: int) -> bool:
        result = self._records.result(index)
        if result is None:
            return False
        if not self._state.ledger.has(index):
            outcome = self._records.counted(index, result)
            if self._state.slots is not None:
                self._ports.leases.settle(self._records.sweep, result.cell, index)
            earlier = self._records.earlier(index, result.attempt)
            self._tally.count(index, outcome, earlier)
            for attempt, one in enumerate((*earlier, outcome), 1):
                self._tell(on.Spent(index, attempt, Spend.of(one)))
            if outcome.fault is not None:
                self._explain(index, result.attempt, outcome.fault.detail)
            if outcome.fault is not None and outcome.fault.kind is FaultKind.BUG:
                self._bug = f"{result.cell}: {outcome.fault.detail}"
            self._tell(on.Settled(index, result.fault, is_sound=outcome.is_sound))
        return True

    def _explain(self, index: int, attempt: int, why: str) -> None:
        cell = self._records.plan.cells[index].id
        self._log.info("attempt.failed", cell=cell, attempt=attempt, why=why)
        self._tally.note(f"{cell} attempt {attempt}: {why}")

    def _look_into(self, suspect: Suspect) -> None:
        index, attempt = suspect.index, suspect.attempt
        if self._look(index, attempt) or not suspect.is_gone:
            return
        live = self._state.window.cells.get(index)
        if self._records.claim(index, attempt) is None:
            self._log.info("ticket.repeated", cell=self._records.plan.cells[index].id, attempt=attempt)
            if self._has_idle_slots(index) or (live is not None and live.phase is Phase.RUNNING):
                self._watch.refused(index, attempt)
            self._tell(on.Overdue(index, attempt))
        elif live is not None and live.phase is Phase.QUEUED:
            self._tell(on.Claimed(index, attempt))  # its lease is looked for next
        else:
            # Exclusive: from here on either this outcome stands, or the one that its worker wrote just before.
            self._records.write_lost(index, attempt, self._ports.clock.now())
            self._look(index, attempt)

    def _perform(self, effect: Effect) -> None:
        sweep, leases, clock = self._records.sweep, self._ports.leases, self._ports.clock
        match effect:
            case out.SendTicket():
                self._send(effect.index, effect.attempt)
            case out.StartWait():
                self._waits[effect.index] = _Wait(effect.attempt, clock.monotonic() + effect.delay_s)
            case out.StartHold():
                self._holds[effect.provider] = _Held(effect.number, clock.monotonic() + effect.delay_s)
            case out.SettleOutcome():
                self._settle(effect.index, effect.attempt)
            case out.TakeOver():
                self._take_over(effect.index)
            case out.PauseFrom():
                leases.open_sweep(sweep, effect.index)
            case out.Resume():
                leases.open_sweep(sweep)
            case out.CloseClaims() | out.OrderStop() | out.CloseSweep() | out.LeaveOpen():
                self._perform_ending(effect)
            case _:
                assert_never(effect)

    def _perform_ending(self, effect: out.CloseClaims | out.OrderStop | out.CloseSweep | out.LeaveOpen) -> None:
        sweep, leases = self._records.sweep, self._ports.leases
        match effect:
            case out.CloseClaims():
                leases.close_sweep(sweep)
                self._log.warning("breaker.tripped", index=self._state.breaker.tripped_at)
                self._tell(on.ClaimsClosed(frozenset(lease.index for lease in leases.live(sweep))))
            case out.OrderStop():
                self._ports.signals.order_stop(sweep, effect.reason)
            case out.CloseSweep():
                leases.close_sweep(sweep)
                self.close = self._records.write_close(effect.reason, self._detail(), self._ports.clock.now())
            case out.LeaveOpen():
                state = self._state
                needed_s = state.hours.put_off_s or 0.0
                self.left_open = LeftOpen(effect.why, state.ledger.put_aside, needed_s, state.budget.words)
            case _:
                assert_never(effect)

    def _detail(self) -> str:
        tripped = self._state.breaker.tripped_at
        if tripped is None:
            return self._bug
        streak = self._state.breaker.streak
        return f"{streak} unusable results in a row, the last of them {self._records.plan.cells[tripped].id}"

    def _send(self, index: int, attempt: int) -> None:
        live = self._state.window.cells.get(index)
        if live is None or live.attempt != attempt or live.phase is not Phase.QUEUED:
            return  # an outage held the effect up and the cell has moved on
        ticket = self._ticket(index, attempt)
        if attempt > 1:
            self._ports.leases.announce(ticket)
        self._ports.dispatcher.send(ticket)
        self._watch.sent(index, attempt, self._ports.clock.monotonic())

    def _take_over(self, index: int) -> None:
        live = self._state.window.cells.get(index)
        if live is not None:  # else an outage held the effect up and the sweep has ended
            self._settle(index, live.attempt)

    def _settle(self, index: int, attempt: int) -> None:
        origin = self._records.plan.reused.get(self._records.plan.cells[index].id)
        if origin is not None:
            self._records.take_over(index, self._ports.blobs.get(origin.outcome))
        stored = self._records.outcome(index, attempt)
        if stored is not None and not (stored.outcome.is_interrupted or stored.outcome.late):
            self._records.settle(index, stored)
        self._look(index, attempt)

    def _ticket(self, index: int, attempt: int) -> Ticket:
        cell = self._records.plan.cells[index]
        return Ticket(
            sweep=self._records.sweep,
            plan=self._records.plan.digest,
            cell=cell.id,
            index=index,
            attempt=attempt,
            queue=self._queues.of(cell),
        )
