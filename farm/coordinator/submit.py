"""Submitting a plan: its folder in the store, and the instant from which its deadline counts."""

from dataclasses import dataclass
from itertools import count

from farm.errors import SpecError
from farm.model import Opening, Plan, Shard, ShardOpening, SweepId, canonical_json, parse_record, sweep_id
from farm.model.keys import open_key, plan_key, shard_open_key
from farm.ports import Clock, Records, read_required


@dataclass(frozen=True, slots=True)
class ShardPlace:
    """Which part of which run of a plan."""

    shard: Shard
    edition: int


def submit(plan: Plan, edition: int | None, records: Records, submitted_by: str, clock: Clock) -> SweepId:
    """Write the sweep's first two records and return its id.

    Without an edition the next free one is taken. With one, submitting the same plan again is the same sweep; another
    plan under the same id raises SpecError.
    """
    if edition is not None:
        opening = _opening(plan, edition, submitted_by, clock)
        _open(opening, plan, records)
        _ensure_in_one_piece(opening.sweep, records)
        return opening.sweep
    for free in count(1):
        opening = _opening(plan, free, submitted_by, clock)
        if records.read(open_key(opening.sweep)) is None and _open(opening, plan, records):
            return opening.sweep
    raise AssertionError("editions do not run out")


def submit_shard(plan: Plan, place: ShardPlace, records: Records, submitted_by: str, clock: Clock) -> SweepId:
    """Join the edition's other shards, or open it, and return the sweep's id; doing it again changes nothing.

    Raises SpecError where the edition holds another plan, or was opened in another number of shards.
    """
    shard = place.shard
    opening = _opening(plan, place.edition, submitted_by, clock, shard.of)
    sweep = opening.sweep
    _open(opening, plan, records)
    stands = _stored(sweep, records)
    if stands.shards != shard.of:
        raise SpecError(
            f"sweep {sweep} was opened in {_parts(stands.shards)}, so there is no shard {shard} of it; "
            "submit under another --edition"
        )
    joined = ShardOpening(sweep=sweep, shard=shard, opened_at=clock.now(), submitted_by=submitted_by)
    records.create(shard_open_key(sweep, shard.number), canonical_json(joined))
    return sweep


def _ensure_in_one_piece(sweep: SweepId, records: Records) -> None:
    parts = _stored(sweep, records).shards
    if parts > 1:
        raise SpecError(f"sweep {sweep} was opened in {_parts(parts)}: name one by --shard, or take another --edition")


def _parts(count: int) -> str:
    return "one piece" if count == 1 else f"{count} shards"


def _stored(sweep: SweepId, records: Records) -> Opening:
    return parse_record(Opening, read_required(records, open_key(sweep)), open_key(sweep))


def _opening(plan: Plan, edition: int, submitted_by: str, clock: Clock, shards: int = 1) -> Opening:
    return Opening(
        sweep=sweep_id(plan.name, plan.digest, edition),
        plan=plan.digest,
        edition=edition,
        opened_at=clock.now(),
        submitted_by=submitted_by,
        shards=shards,
    )


def _open(opening: Opening, plan: Plan, records: Records) -> bool:
    """Create both records, the plan first, so that an open sweep always has one; say whether we opened it."""
    key, body = plan_key(opening.sweep), canonical_json(plan)
    if not records.create(key, body) and records.read(key) != body:
        raise SpecError(f"sweep {opening.sweep} holds another plan already; submit this one under another edition")
    return records.create(open_key(opening.sweep), canonical_json(opening))
