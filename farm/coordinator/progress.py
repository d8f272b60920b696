"""How far a sweep is, for a live display."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from farm.model import ArmCount, Checkpoint, Digest, Outcome, Plan, Pressure, SweepId, pack, unpack

_MOST_NOTES = 50
"""More than come between two looks at the progress."""


@dataclass(frozen=True, slots=True)
class ArmProgress:
    """One arm's part."""

    arm: str
    planned: int
    done: int
    """Cells with a result."""
    running: int
    failed: int
    """Results without evidence."""
    correct: int
    cost_usd: Decimal
    """Of every attempt of the finished cells, as far as it is known."""
    cost_unknown: int
    """Finished cells whose cost is not, or not all, known."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The whole sweep."""

    sweep: SweepId
    planned: int
    done: int
    running: int
    failed: int
    arms: tuple[ArmProgress, ...]
    eta_s: float | None
    """None while nothing has finished in this run."""
    is_paused: bool
    waiting: str | None
    """What the sweep waits for, when it is not simply running."""
    budget: str
    """How much of the sweep's budget is used, reserved and unknown; empty without one."""
    notes: tuple[str, ...]
    """The latest things that a person may want to know, oldest first."""


@dataclass(slots=True)
class _ArmCount:
    planned: int = 0
    done: int = 0
    failed: int = 0
    correct: int = 0
    cost_usd: Decimal = field(default_factory=Decimal)
    cost_unknown: int = 0
    attempts_of_unknown_cost: int = 0
    tokens: int = 0
    attempts_of_unknown_tokens: int = 0

    def count(self, outcome: Outcome, earlier: tuple[Outcome | None, ...]) -> None:
        self.done += 1
        evidence = outcome.evidence
        self.failed += evidence is None
        self.correct += evidence is not None and evidence.oracle.correct is True
        costs = [None if attempt is None else attempt.cost_usd for attempt in (*earlier, outcome)]
        self.cost_unknown += None in costs
        self.cost_usd += sum(cost for cost in costs if cost is not None)
        self.attempts_of_unknown_cost += costs.count(None)
        tokens = [None if attempt is None else attempt.tokens for attempt in (*earlier, outcome)]
        self.tokens += sum(used for used in tokens if used is not None)
        self.attempts_of_unknown_tokens += tokens.count(None)

    def frozen(self, arm: str) -> ArmCount:
        return ArmCount(
            arm=arm,
            done=self.done,
            failed=self.failed,
            correct=self.correct,
            cost_usd=self.cost_usd,
            cost_unknown=self.cost_unknown,
            attempts_of_unknown_cost=self.attempts_of_unknown_cost,
            tokens=self.tokens,
            attempts_of_unknown_tokens=self.attempts_of_unknown_tokens,
        )

    def restore(self, counted: ArmCount) -> None:
        self.done, self.failed, self.correct = counted.done, counted.failed, counted.correct
        self.cost_usd, self.cost_unknown = counted.cost_usd, counted.cost_unknown
        self.attempts_of_unknown_cost = counted.attempts_of_unknown_cost
        self.tokens, self.attempts_of_unknown_tokens = counted.tokens, counted.attempts_of_unknown_tokens


@dataclass(frozen=True, slots=True)
class Pulse:
    """What the counts don't know: the moment."""

    running: Iterable[int] = ()
    """Indices of running cells."""
    elapsed_s: float = 0.0
    """Since this run began to dispatch."""
    is_paused: bool = False
    waiting: str | None = None
    budget: str = ""


class Tally:
    """Counts finished cells by arm; each cell is counted by the caller once."""

    def __init__(self, sweep: SweepId, plan: Plan, elsewhere: frozenset[int] = frozenset()) -> None:
        """Count the plan's cells but those of `elsewhere`, by index, which another coordinator counts."""
        self._sweep = sweep
        self._plan = plan
        self._arms = {arm.name: _ArmCount() for arm in plan.arms}
        for index, cell in enumerate(plan.cells):
            self._arms[cell.arm].planned += index not in elsewhere
        self._planned = len(plan.cells) - len(elsewhere)
        self._done = self._failed = self._retried = 0  # bits by index
        self._replayed = 0
        self._notes = deque[str](maxlen=_MOST_NOTES)

    @property
    def sweep(self) -> SweepId:
        return self._sweep

    @property
    def planned(self) -> int:
        return self._planned

    @property
    def done(self) -> int:
        return sum(arm.done for arm in self._arms.values())

    def count(self, index: int, outcome: Outcome, earlier: tuple[Outcome | None, ...]) -> None:
        """Count the outcome that the cell's result names, and the cost of its earlier attempts (None: no record)."""
        self._arms[self._plan.cells[index].arm].count(outcome, earlier)
        self._replayed += outcome.origin is not None  # taken in, not run: it tells nothing about the pace
        bit = 1 << index
        self._done |= bit
        if not outcome.is_sound:
            self._failed |= bit
        if earlier:
            self._retried |= bit

    def checkpoint(self, plan: Digest) -> Checkpoint:
        """Freeze all that was counted, to be restored."""
        return Checkpoint(
            sweep=self._sweep,
            plan=plan,
            done=pack(self._done),
            failed=pack(self._failed),
            retried=pack(self._retried),
            arms=tuple(arm.frozen(name) for name, arm in self._arms.items()),
        )

    def restore(self, checkpoint: Checkpoint) -> None:
        """Count what an earlier run had counted; nothing must be counted yet."""
        self._done, self._failed = unpack(checkpoint.done), unpack(checkpoint.failed)
        self._retried = unpack(checkpoint.retried)
        for counted in checkpoint.arms:
            self._arms[counted.arm].restore(counted)

    def note(self, text: str) -> None:
        """Keep a line for the display; one that it has already says nothing new."""
        if text not in self._notes:
            self._notes.append(text)

    def note_pressure(self, index: int, pressure: Pressure) -> None:
        """Keep a line on what presses a cell's provider."""
        cell = self._plan.cells[index]
        provider = self._plan.arm_by_name[cell.arm].provider
        ends = ", ".join(f"{times} times {end}" for end, times in sorted(pressure.ends.items()))
        wait = "" if pressure.retry_after_s is None else f"; it asks to wait {pressure.retry_after_s:g} s"
        self.note(f"provider {provider}: {ends} in {cell.id}{wait}")

    def start(self) -> None:
        """Say that what was counted so far was done by an earlier run: it tells nothing about the pace."""
        self._replayed = self.done

    def progress(self, pulse: Pulse) -> Progress:
        """Freeze the counts."""
        running = [self._plan.cells[index].arm for index in pulse.running]
        fresh, left = self.done - self._replayed, self._planned - self.done
        return Progress(
            sweep=self._sweep,
            planned=self._planned,
            done=self.done,
            running=len(running),
            failed=sum(arm.failed for arm in self._arms.values()),
            arms=tuple(
                ArmProgress(
                    arm=name,
                    planned=arm.planned,
                    done=arm.done,
                    running=running.count(name),
                    failed=arm.failed,
                    correct=arm.correct,
                    cost_usd=arm.cost_usd,
                    cost_unknown=arm.cost_unknown,
                )
                for name, arm in self._arms.items()
            ),
            eta_s=pulse.elapsed_s / fresh * left if fresh > 0 else None,
            is_paused=pulse.is_paused,
            waiting=pulse.waiting,
            budget=pulse.budget,
            notes=tuple(self._notes),
        )
