"""Checkpoints in the store: so that resuming a big sweep does not read every result. Small sweeps have none."""

from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

import structlog

from farm.coordinator import events as on
from farm.coordinator.budget import Used
from farm.coordinator.ledger import mask_of
from farm.coordinator.progress import Tally
from farm.errors import IntegrityError
from farm.model import Checkpoint, Digest, Plan, SweepId, canonical_json, parse_record, unpack
from farm.model.keys import checkpoint_key, checkpoints_prefix
from farm.ports import Records

_log = structlog.get_logger()

_LEAST_NEW = 1000
_PARTS = 50
"""A sweep writes about as many: each costs a few hundred bytes, and what a crash leaves uncounted is read again."""
_MOST_TRIED = 3


@dataclass(frozen=True, slots=True)
class Counted:
    """A checkpoint whose every bit is borne out by a result that stands."""

    checkpoint: Checkpoint
    done: int
    failed: int
    retried: int


def latest(records: Records, place: tuple[SweepId, Digest], part: int, settled: int) -> Counted | None:
    """Find a part's newest checkpoint that fits the plan and the results; `settled` has a bit for each that stands.

    One that is damaged, of another plan, or knows results that are not there, is passed over.
    """
    sweep, plan = place
    keys = sorted(records.keys(checkpoints_prefix(sweep, part)), reverse=True)
    for key in islice(keys, _MOST_TRIED):
        counted = _read(records, key)
        if counted is None or (counted.checkpoint.sweep, counted.checkpoint.plan) != (sweep, plan):
            _log.warning("checkpoint.ignored", key=key, why="it is damaged, or of another plan")
        elif counted.done & ~settled:
            _log.warning("checkpoint.ignored", key=key, why="it counts results that are not in the store")
        else:
            return counted
    return None


def _read(records: Records, key: str) -> Counted | None:
    body = records.read(key)
    try:
        checkpoint = parse_record(Checkpoint, body or b"", key)
        bits = [unpack(text) for text in (checkpoint.done, checkpoint.failed, checkpoint.retried)]
    except (IntegrityError, ValueError):
        return None
    return Counted(checkpoint, *bits) if checkpoint.is_whole else None


class Checkpoints:
    """One coordinator's."""

    def __init__(self, records: Records, plan: Plan, part: int, tally: Tally) -> None:
        self._records = records
        self._place = (tally.sweep, plan.digest)
        self._paying = frozenset(arm.name for arm in plan.arms if arm.provider is not None)
        self._part = part
        self._tally = tally
        self._kept = 0

    def restore(self, settled: tuple[int, ...]) -> on.Restored | None:
        """Count at once what the newest checkpoint knows; None where there is none that holds."""
        counted = latest(self._records, self._place, self._part, mask_of(settled))
        if counted is None:
            return None
        self._tally.restore(counted.checkpoint)
        self._kept = self._tally.done
        arms = [arm for arm in counted.checkpoint.arms if arm.arm in self._paying]
        return on.Restored(
            done=counted.done,
            unusable=counted.failed,
            cost=Used(
                sum((arm.cost_usd for arm in arms), Decimal(0)), sum(arm.attempts_of_unknown_cost for arm in arms)
            ),
            tokens=Used(Decimal(sum(arm.tokens for arm in arms)), sum(arm.attempts_of_unknown_tokens for arm in arms)),
        )

    def keep(self) -> None:
        """Write one when enough was counted since the last."""
        done = self._tally.done
        if done - self._kept < max(_LEAST_NEW, self._tally.planned // _PARTS):
            return
        sweep, plan = self._place
        checkpoint = self._tally.checkpoint(plan).checked()
        self._records.create(checkpoint_key(sweep, self._part, done), canonical_json(checkpoint))
        self._kept = done
