"""Closing: no new claims after this. The coordinator has most often done it already."""

from farm.finalizer.ports import FinalizerPorts
from farm.finalizer.writing import Written, find, write_once
from farm.model import Cancel, Close, CloseReason, Plan, SweepId
from farm.model.keys import cancel_key, close_key, results_prefix


def close(sweep: SweepId, plan: Plan, ports: FinalizerPorts) -> Written[Close]:
    """Write close.json, unless there is one."""

    def make() -> Close:
        cancel = find(ports.records, cancel_key(sweep), Cancel)
        if cancel is not None:
            return _close(CloseReason.CANCELLED, cancel.value.reason)
        done = sum(1 for _ in ports.records.keys(results_prefix(sweep)))
        missing = len(plan.cells) - done
        if missing == 0:
            return _close(CloseReason.COMPLETE, "")
        return _close(CloseReason.UNFINISHED, f"finalized with {missing} of {len(plan.cells)} cells open")

    def _close(reason: CloseReason, detail: str) -> Close:
        return Close(sweep=sweep, reason=reason, detail=detail, closed_at=ports.clock.now())

    return write_once(ports.records, close_key(sweep), Close, make)
