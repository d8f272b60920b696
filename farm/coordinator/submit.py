"""Submitting a plan: its folder in the store, and the instant from which its deadline counts."""

from itertools import count

from farm.errors import SpecError
from farm.model import Opening, Plan, SweepId, canonical_json, sweep_id
from farm.model.keys import open_key, plan_key
from farm.ports import Clock, Records


def submit(plan: Plan, edition: int | None, records: Records, submitted_by: str, clock: Clock) -> SweepId:
    """Write the sweep's first two records and return its id.

    Without an edition the next free one is taken. With one, submitting the same plan again is the same sweep; another
    plan under the same id raises SpecError.
    """
    if edition is not None:
        sweep = sweep_id(plan.name, plan.digest, edition)
        _open(_opening(plan, edition, submitted_by, clock), plan, records)
        return sweep
    for free in count(1):
        opening = _opening(plan, free, submitted_by, clock)
        if records.read(open_key(opening.sweep)) is None and _open(opening, plan, records):
            return opening.sweep
    raise AssertionError("editions do not run out")


def _opening(plan: Plan, edition: int, submitted_by: str, clock: Clock) -> Opening:
    return Opening(
        sweep=sweep_id(plan.name, plan.digest, edition),
        plan=plan.digest,
        edition=edition,
        opened_at=clock.now(),
        submitted_by=submitted_by,
    )


def _open(opening: Opening, plan: Plan, records: Records) -> bool:
    """Create both records, the plan first, so that an open sweep always has one; say whether we opened it."""
    key, body = plan_key(opening.sweep), canonical_json(plan)
    if not records.create(key, body) and records.read(key) != body:
        raise SpecError(f"sweep {opening.sweep} holds another plan already; submit this one under another edition")
    return records.create(open_key(opening.sweep), canonical_json(opening))
