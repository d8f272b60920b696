"""A host whose cells fail for its own reasons drains itself, until its preflight says that it can work."""

from collections.abc import Callable
from typing import Protocol

import structlog

from farm.ports import Clock
from worker.health.streak import CellEnds, Streak
from worker.health.trial import Proof

_log = structlog.get_logger()

STREAK = 3
FIRST_WAIT_S = 60.0
MOST_WAIT_S = 1800.0


class RunningTrial(Protocol):
    """A preflight that was begun."""

    @property
    def proof(self) -> Proof | None: ...


class Suspension:
    """Takes this host out of work and back, by itself.

    The first preflight is at once, and one that fails is tried again in a minute. A host whose preflight held, and
    whose cells go on failing all the same, tries less and less often: after 1, 2, 4 … 30 minutes, until one ends well.
    `streak` cells make it so; 0: none ever do.
    """

    def __init__(
        self, ends: CellEnds, begin_trial: Callable[[], RunningTrial], clock: Clock, streak: int = STREAK
    ) -> None:
        self._ends = ends
        self._begin_trial = begin_trial
        self._clock = clock
        self._most = streak
        self._blame: str | None = None
        self._state = ""
        self._rounds = 0
        """How often it went back to work, and then no cell ended well."""
        self._ended_well: int | None = None
        """How many had when it last went back; None: it never did."""
        self._due_s = 0.0
        self._trial: RunningTrial | None = None

    @property
    def reason(self) -> str | None:
        """Why the host takes nothing; None: it works."""
        return None if self._blame is None else f"drained itself: {self._blame}; {self._state}"

    def look(self) -> None:
        """Do what is to be done now; none of it takes long."""
        streak = self._ends.streak()
        if self._blame is None:
            if 0 < self._most <= streak.length:
                self._begin(streak)
        elif self._trial is not None:
            self._hear(self._trial)
        elif self._clock.monotonic() >= self._due_s:
            self._state, self._trial = "its preflight runs", self._begin_trial()

    def end(self) -> None:
        """Work again, because somebody says so."""
        self._go_back()
        self._ended_well = None

    def _begin(self, streak: Streak) -> None:
        self._rounds = self._rounds + 1 if streak.ended_well == self._ended_well else 0
        self._blame = f"{streak.length} cells running failed for reasons of this host, the last one: {streak.last}"
        wait_s = min(FIRST_WAIT_S * 2 ** (self._rounds - 1), MOST_WAIT_S) if self._rounds else 0.0
        self._put_off(wait_s, "its preflight held before")
        _log.error("host.suspended", reason=self._blame, wait_s=wait_s)

    def _hear(self, trial: RunningTrial) -> None:
        if trial.proof is None:
            return
        self._trial = None
        if trial.proof.problem is None:
            _log.warning("host.resumed")
            self._go_back()
        else:
            self._put_off(FIRST_WAIT_S, f"its preflight fails ({trial.proof.problem})")
            _log.error("preflight.failed", problem=trial.proof.problem)

    def _put_off(self, wait_s: float, why: str) -> None:
        self._due_s = self._clock.monotonic() + wait_s
        self._state = f"{why}, and is tried again {wait_s:.0f} s later" if wait_s else "its preflight runs"

    def _go_back(self) -> None:
        self._blame, self._trial, self._state = None, None, ""
        self._ends.forget()
        self._ended_well = self._ends.streak().ended_well
