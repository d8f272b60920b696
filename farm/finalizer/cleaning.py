"""Cleaning up what the sweep shared, after the settlement and within the same grace; never under a live worker."""

from collections.abc import Callable
from dataclasses import dataclass

from farm.errors import TransientError
from farm.finalizer.ports import FinalizerPorts, Grace
from farm.finalizer.writing import Written, find, write_once
from farm.model import CleanupRecord, Settlement, SweepId
from farm.model.keys import cleanup_key

UNDER_WORKERS = "workers had not settled, so nothing was cleaned under them"


@dataclass(frozen=True, slots=True)
class _Chore:
    what: str
    act: Callable[[], None]


def clean_up(settlement: Written[Settlement], ports: FinalizerPorts, grace: Grace) -> Written[CleanupRecord]:
    """Clean up once and write cleanup.json; a record that stands says that it was done."""
    sweep = settlement.value.sweep
    key = cleanup_key(sweep)
    cleaned = find(ports.records, key, CleanupRecord)
    if cleaned is not None:
        return cleaned
    problems = _clean(sweep, ports, grace) if settlement.value.workers_settled else (UNDER_WORKERS,)
    return write_once(
        ports.records,
        key,
        CleanupRecord,
        lambda: CleanupRecord(
            sweep=sweep,
            settlement=settlement.digest,
            complete=not problems,
            problems=problems,
            cleaned_at=ports.clock.now(),
        ),
    )


def _clean(sweep: SweepId, ports: FinalizerPorts, grace: Grace) -> tuple[str, ...]:
    def drop_hints() -> None:
        while ports.events.receive(sweep, 0.0):
            pass

    chores = (
        _Chore("the events queue", drop_hints),
        _Chore("the stop order", lambda: ports.signals.withdraw_stop(sweep)),
        _Chore("the lease book", lambda: ports.leases.forget(sweep)),
    )
    done = (_cleared(chore, grace) for chore in chores)
    return tuple(problem for problem in done if problem is not None)


def _cleared(chore: _Chore, grace: Grace) -> str | None:
    """Try until the grace is over; return what went wrong."""
    while True:
        try:
            chore.act()
        except TransientError as error:
            if grace.is_over:
                return f"{chore.what} was not cleaned up: {error}"
            grace.pause()
        else:
            return None
