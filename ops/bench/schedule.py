"""What an order makes of a fleet's time, on 41 recorded sessions of three arms; and how far the breaker overruns.

    python ops/bench/schedule.py [--slots 3] [--ahead 6] [--json]

Makespans come from the coordinator's own machine, driven by a clock that is not real, and are compared with what
`farm plan --simulate` computes. Ends with 1 where packed, with the durations known, is more than 1 % above the lower
bound, or where the breaker of the strict policy trips at another cell than in a serial run, or overruns by `ahead`.
"""

import argparse
import heapq
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from farm.coordinator import effects as out
from farm.coordinator import events as on
from farm.coordinator.machine import Policies, Stage, advance, begin
from farm.model import Cell, CellOrder, DispatchPolicy, FaultKind
from farm.planning.cells import Ordering, order_cells
from farm.planning.schedule import lower_bound_s, makespan_s, waves_s

_DATA = Path(__file__).parent / "data" / "session_durations.json"
_FAILING_FROM = (0, 4, 12)
_BAR = 0.01


@dataclass(frozen=True, slots=True)
class Fleet:
    """Slots, and how far ahead of the fold they may work."""

    slots: int
    ahead: int | None


@dataclass(frozen=True, slots=True)
class Played:
    """What the machine did with a plan."""

    lasted_s: float
    tripped_at: int | None
    overrun: int
    """Cells beyond the one at which the breaker tripped that were begun all the same."""


def play(lasts_s: Sequence[float], fleet: Fleet, failing_from: int | None = None) -> Played:
    """Let the coordinator's machine run cells that last so long, of which those from one on end without evidence."""
    policies = Policies(dispatch=DispatchPolicy(ahead=fleet.ahead))
    state, effects = advance(begin(len(lasts_s), policies), on.SlotsChanged(fleet.slots))
    queued, running, begun, now_s = list[int](), list[tuple[float, int]](), set[int](), 0.0
    while state.stage is not Stage.OVER:
        queued += [effect.index for effect in effects if isinstance(effect, out.SendTicket)]
        if any(isinstance(effect, out.CloseClaims) for effect in effects):
            queued.clear()
            state, effects = advance(state, on.ClaimsClosed(frozenset(index for _, index in running)))
            continue
        while queued and len(running) < fleet.slots:
            index = queued.pop(0)
            begun.add(index)
            heapq.heappush(running, (now_s + lasts_s[index], index))
            state, _ = advance(state, on.Claimed(index, 1))
        now_s, index = heapq.heappop(running)
        is_bad = failing_from is not None and index >= failing_from
        state, effects = advance(state, on.Settled(index, FaultKind.EVIDENCE if is_bad else None))
    tripped = state.breaker.tripped_at
    return Played(now_s, tripped, 0 if tripped is None else sum(index > tripped for index in begun))


def recorded() -> Mapping[Cell, float]:
    """Read the sessions: the n-th of each arm is of the n-th task."""
    by_arm = json.loads(_DATA.read_text(encoding="utf-8"))["seconds_by_arm"]
    return {
        Cell(task=f"task-{number:02}", arm=arm.replace("_", "-"), trial=1): seconds
        for arm, measured in by_arm.items()
        for number, seconds in enumerate(measured, 1)
    }


@dataclass(frozen=True, slots=True)
class Measured:
    """One order's makespan under the machine."""

    order: str
    ahead: int | None
    lasts_s: float
    over: float
    """Above the lower bound, as a share of it."""


def _plan(known: Mapping[Cell, float], ordering: Ordering) -> Sequence[float]:
    tasks, arms = (sorted({getattr(cell, field) for cell in known}) for field in ("task", "arm"))
    return [known[cell] for cell in order_cells(tasks, arms, 1, ordering) if cell in known]


def _orders(known: Mapping[Cell, float]) -> Mapping[str, Sequence[float]]:
    by_arm = {arm: statistics.median(s for c, s in known.items() if c.arm == arm) for arm in {c.arm for c in known}}
    by_task = {
        task: statistics.median(s for c, s in known.items() if c.task == task) for task in {c.task for c in known}
    }
    packed = partial(Ordering, CellOrder.PACKED, 0)
    return {
        "task-major": _plan(known, Ordering(CellOrder.TASK_MAJOR)),
        "rotated": _plan(known, Ordering(CellOrder.ROTATED)),
        "packed, each known": _plan(known, packed(lambda cell: known.get(cell, 0.0))),
        "packed, medians of arms": _plan(known, packed(lambda cell: by_arm[cell.arm])),
        "packed, medians of tasks": _plan(known, packed(lambda cell: by_task[cell.task])),
    }


def _measure(known: Mapping[Cell, float], fleet: Fleet) -> tuple[Measured, ...]:
    bound_s = lower_bound_s(list(known.values()), fleet.slots)
    found = [
        Measured(
            "waves",
            None,
            waves := waves_s(_plan(known, Ordering(CellOrder.TASK_MAJOR)), fleet.slots),
            waves / bound_s - 1,
        )
    ]
    for name, lasts_s in _orders(known).items():
        for ahead in (None, fleet.ahead):
            lasted_s = play(lasts_s, Fleet(fleet.slots, ahead)).lasted_s
            if abs(lasted_s - makespan_s(lasts_s, fleet.slots, ahead)) > 1e-6 * lasted_s:
                raise AssertionError(f"the machine and the simulation differ over {name!r}, ahead {ahead}")
            found.append(Measured(name, ahead, lasted_s, lasted_s / bound_s - 1))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Overrun:
    """Where the breaker trips when every cell from one on fails."""

    failing_from: int
    serial_trip: int | None
    trip: int | None
    overrun: int
    """Of the strict policy."""
    loose_overrun: int
    """Of the usual one."""

    def is_faithful(self, ahead: int) -> bool:
        return self.trip == self.serial_trip and self.overrun < ahead


def _overrun(lasts_s: Sequence[float], fleet: Fleet, failing_from: int) -> Overrun:
    strict = play(lasts_s, fleet, failing_from)
    return Overrun(
        failing_from=failing_from,
        serial_trip=play(lasts_s, Fleet(1, 1), failing_from).tripped_at,
        trip=strict.tripped_at,
        overrun=strict.overrun,
        loose_overrun=play(lasts_s, Fleet(fleet.slots, None), failing_from).overrun,
    )


def main() -> int:
    """Measure, print, and say by the exit code whether the bars are met."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--slots", type=int, default=3)
    options.add_argument("--ahead", type=int, default=6)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    if not 1 <= chosen.slots <= chosen.ahead:
        options.error(f"--slots {chosen.slots} and --ahead {chosen.ahead}: take 1 slot or more, and look ahead for all")
    fleet, known = Fleet(chosen.slots, chosen.ahead), recorded()
    measured = _measure(known, fleet)
    packed = _orders(known)["packed, each known"]
    overruns = [_overrun(packed, fleet, failing_from) for failing_from in _FAILING_FROM]
    is_met = all(one.over <= _BAR for one in measured if one.order == "packed, each known")
    is_met = is_met and all(one.is_faithful(chosen.ahead) for one in overruns)
    if chosen.json:
        print(json.dumps({"orders": list(map(asdict, measured)), "overruns": list(map(asdict, overruns))}, indent=2))
    else:
        show(measured, overruns, chosen.ahead)
    return 0 if is_met else 1


def show(measured: Sequence[Measured], overruns: Sequence[Overrun], ahead: int) -> None:
    """Print what was measured, for people."""
    for one in measured:
        bounded = "" if one.ahead is None else f"ahead {one.ahead}"
        print(
            f"{one.order:<26}{bounded:<10}{one.lasts_s:>8.0f} s{100 * one.over:>7.2f} % above what no order undercuts"
        )
    for over in overruns:
        print(
            f"failing from cell {over.failing_from}: trips at {over.trip} (one at a time: {over.serial_trip}); begun "
            f"beyond it: {over.overrun} of at most {ahead - 1}; without a bound {over.loose_overrun}"
        )


if __name__ == "__main__":
    sys.exit(main())
