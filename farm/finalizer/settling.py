"""Settling: wait until every lease has ended, within the grace; then say once and for all what each cell came to."""

from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from farm.errors import IntegrityError, TransientError
from farm.finalizer.ports import FinalizerPorts, Grace
from farm.finalizer.writing import Written, find, write_once
from farm.model import (
    CellId,
    Close,
    CloseReason,
    Digest,
    Plan,
    Sealed,
    SettledCell,
    Settlement,
    StopReason,
    SweepId,
    Unsettled,
)
from farm.model.keys import AttemptFile, attempt_place, attempts_prefix, results_prefix, settlement_key, sweep_root

_ORDERS = {
    CloseReason.CANCELLED: StopReason.CANCEL,
    CloseReason.DEADLINE: StopReason.DEADLINE,
    CloseReason.BREAKER: StopReason.BREAKER,
    CloseReason.BUG: StopReason.CANCEL,
    CloseReason.UNFINISHED: StopReason.CANCEL,
}


@dataclass(frozen=True, slots=True)
class _Stood:
    """What the store held at settlement."""

    results: Mapping[CellId, Digest]
    attempts: Mapping[CellId, tuple[Sealed, ...]]


def settle(plan: Plan, close: Written[Close], ports: FinalizerPorts, grace: Grace) -> Written[Settlement]:
    """Write settlement.json, unless there is one: it is final."""
    sweep = close.value.sweep
    key = settlement_key(sweep)
    settled = find(ports.records, key, Settlement)
    if settled is not None:
        return settled
    _stop(close.value, ports)
    live = _wait(sweep, ports, grace)
    stood = _read(sweep, ports)
    while _silent(stood) and not grace.is_over:
        grace.pause()
        stood = _read(sweep, ports)
    running = live | _silent(stood)
    return write_once(
        ports.records,
        key,
        Settlement,
        lambda: Settlement(
            sweep=sweep,
            plan=plan.digest,
            close=close.digest,
            cells=tuple(_settled(cell.id, stood, running) for cell in plan.cells),
            workers_settled=not running,
            settled_at=ports.clock.now(),
        ),
    )


def _stop(close: Close, ports: FinalizerPorts) -> None:
    ports.leases.close_sweep(close.sweep)
    order = _ORDERS.get(close.reason)
    if order is not None:
        ports.signals.order_stop(close.sweep, order)


def _wait(sweep: SweepId, ports: FinalizerPorts, grace: Grace) -> frozenset[CellId]:
    """Wait for every lease to end; return the cells whose lease outlived the grace.

    A lease book that does not answer to the end of the grace raises TransientError: a settlement is final, so it is
    not written on a guess.
    """
    while True:
        try:
            live = frozenset(lease.cell for lease in ports.leases.live(sweep))
        except TransientError:
            if grace.is_over:
                raise
        else:
            if not live or grace.is_over:
                return live
        grace.pause()


def _silent(stood: _Stood) -> frozenset[CellId]:
    """Name the cells without a result of which a claimed attempt has left no outcome.

    Their workers may be at work whatever the lease book says: it may have been wiped, or be another farm's.
    """
    return frozenset(
        cell for cell, attempts in stood.attempts.items() if cell not in stood.results and _has_silent(attempts)
    )


def _has_silent(attempts: tuple[Sealed, ...]) -> bool:
    places = [place for sealed in attempts if (place := attempt_place(sealed.key)) is not None]
    claimed = {place.attempt for place in places if place.file is AttemptFile.CLAIM}
    return not claimed <= {place.attempt for place in places if place.file is AttemptFile.OUTCOME}


def _read(sweep: SweepId, ports: FinalizerPorts) -> _Stood:
    # results first: a result that lands later is late, and one that is counted has its outcome among the attempts
    results = _digests(ports, results_prefix(sweep))
    sealed = _digests(ports, attempts_prefix(sweep))
    attempts = defaultdict[CellId, list[Sealed]](list)
    for key in sorted(sealed):
        below = key.removeprefix(sweep_root(sweep))
        place = attempt_place(below)
        if place is not None:  # another's file among ours is none of the sweep's
            attempts[place.cell].append(Sealed(key=below, digest=sealed[key]))
    by_cell = {key.removeprefix(results_prefix(sweep)).removesuffix(".json"): key for key in results}
    return _Stood(
        results={CellId(cell): results[key] for cell, key in by_cell.items()},
        attempts={cell: tuple(kept) for cell, kept in attempts.items()},
    )


def _digests(ports: FinalizerPorts, prefix: str) -> dict[str, Digest]:
    listed = tuple(ports.records.keys(prefix))

    def digest(key: str) -> Digest:
        body = ports.records.read(key)
        if body is None:
            raise IntegrityError(f"{key} was listed and is gone: records are never deleted")
        return Digest.of(body)

    if ports.readers == 1:
        return {key: digest(key) for key in listed}
    with ThreadPoolExecutor(ports.readers) as readers:
        return dict(zip(listed, readers.map(digest, listed), strict=True))


def _settled(cell: CellId, stood: _Stood, running: frozenset[CellId]) -> SettledCell:
    result, attempts = stood.results.get(cell), stood.attempts.get(cell, ())
    if result is not None:
        return SettledCell(cell=cell, result=result, attempts=attempts)
    return SettledCell(cell=cell, result=None, attempts=attempts, unsettled=_why_unsettled(cell, stood, running))


def _why_unsettled(cell: CellId, stood: _Stood, running: frozenset[CellId]) -> Unsettled:
    if cell in running:
        return Unsettled.STILL_RUNNING
    return Unsettled.STOPPED if cell in stood.attempts else Unsettled.NEVER_STARTED
