"""Closing: no new claims after this. The coordinator has most often done it already; that of shards is done here."""

from dataclasses import dataclass

from farm.finalizer.ports import FinalizerPorts
from farm.finalizer.writing import Written, find, write_once
from farm.model import Cancel, Close, CloseReason, Digest, Opening, Plan, Sealed, Shard, ShardClose, SweepId, shards
from farm.model.keys import cancel_key, close_key, results_prefix, shard_close_key, shards_prefix, sweep_root
from farm.ports import Records, read_required

_WORST_FIRST = (
    CloseReason.BUG,
    CloseReason.CANCELLED,
    CloseReason.BREAKER,
    CloseReason.DEADLINE,
    CloseReason.UNFINISHED,
    CloseReason.COMPLETE,
)


@dataclass(frozen=True, slots=True)
class _Reason:
    reason: CloseReason
    detail: str = ""


def open_shards(sweep: SweepId, of: int, records: Records) -> tuple[Shard, ...]:
    """List the shards of a sweep opened in `of` that have not ended; none where it is in one piece."""
    return tuple(shard for shard in shards(of) if records.read(shard_close_key(sweep, shard.number)) is None)


def open_cells(opening: Opening, plan: Plan, records: Records) -> int:
    """Count the cells without a result that somebody may still run; 0: the sweep is to be settled as it is."""
    sweep = opening.sweep
    if records.read(close_key(sweep)) is not None or records.read(cancel_key(sweep)) is not None:
        return 0
    missing = _missing(opening, plan, records)
    if missing and opening.shards > 1 and not open_shards(sweep, opening.shards, records):
        return 0
    return missing


def _missing(opening: Opening, plan: Plan, records: Records) -> int:
    return len(plan.cells) - sum(1 for _ in records.keys(results_prefix(opening.sweep)))


def close(opening: Opening, plan: Plan, ports: FinalizerPorts) -> Written[Close]:
    """Write close.json, unless there is one."""
    sweep = opening.sweep

    def make() -> Close:
        why = _why(opening, plan, ports.records)
        return Close(
            sweep=sweep,
            reason=why.reason,
            detail=why.detail,
            closed_at=ports.clock.now(),
            shards=_shard_records(sweep, ports.records) if opening.shards > 1 else (),
        )

    return write_once(ports.records, close_key(sweep), Close, make)


def _why(opening: Opening, plan: Plan, records: Records) -> _Reason:
    cancel = find(records, cancel_key(opening.sweep), Cancel)
    if cancel is not None:
        return _Reason(CloseReason.CANCELLED, cancel.value.reason)
    missing = _missing(opening, plan, records)
    if missing == 0:
        return _Reason(CloseReason.COMPLETE)
    if opening.shards > 1 and not open_shards(opening.sweep, opening.shards, records):
        return _worst(opening, records)
    return _Reason(CloseReason.UNFINISHED, f"finalized with {missing} of {len(plan.cells)} cells open")


def _worst(opening: Opening, records: Records) -> _Reason:
    """Give the worst end of all shards, with what each shard that ended so says of it."""
    read = (find(records, shard_close_key(opening.sweep, one.number), ShardClose) for one in shards(opening.shards))
    ends = [one.value for one in read if one is not None]
    worst = min((end.reason for end in ends), key=_WORST_FIRST.index)
    if worst is CloseReason.COMPLETE:  # records are never deleted, so somebody has
        return _Reason(CloseReason.UNFINISHED, "every shard is complete, and results are missing")
    return _Reason(worst, "; ".join(f"shard {end.shard}: {end.detail}" for end in ends if end.reason is worst))


def _shard_records(sweep: SweepId, records: Records) -> tuple[Sealed, ...]:
    root = sweep_root(sweep)
    keys = sorted(records.keys(shards_prefix(sweep)))
    return tuple(Sealed(key=key.removeprefix(root), digest=Digest.of(read_required(records, key))) for key in keys)
