"""Plans as a command line makes them: drawn up in memory, and stored when nothing is left to complain of.

Apart from `farm.bootstrap`, as planning takes longer to import than a verb that only looks may take.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from farm import bootstrap
from farm.model import Plan, SweepId
from farm.model.keys import SWEEPS
from farm.planning import plan_sweep
from farm.planning.carrying import Reuse, Source
from farm.planning.load import read_spec
from farm.planning.proofs import plan_proofs
from farm.planning.reuse import ReuseRule
from farm.ports import BlobStore, Store


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan whose inputs are still in memory, so that a mistake leaves nothing in the store."""

    plan: Plan
    inputs: tuple[bytes, ...]
    reuse: Reuse = field(default_factory=Reuse)
    """What it takes over from earlier sweeps."""

    def deliver(self, store: Store) -> Plan:
        """Store the inputs, and the bytes that are taken over, and return the plan.

        A cell of which bytes are missing or changed is not taken over: the plan that is returned pays for it.
        """
        for body in self.inputs:
            store.blobs.put(body)
        return self.reuse.carry(self.plan, store)


def draft_plan(
    sweep_file: Path, *, expensive: bool = False, reuse: Sequence[str] = (), store: str | None = None
) -> Draft:
    """Plan a file's sweep, expensive tasks only when asked for; raise SpecError for whatever a person must change.

    `reuse` names sweeps besides those of the file: by id in the store, or by the place of their folder in another.
    """
    draft = _draft(lambda blobs: plan_sweep(sweep_file, blobs, bootstrap.plugins(), expensive=expensive))
    spec = read_spec(sweep_file).spec
    named = dict.fromkeys((*spec.reuse, *reuse))
    if not named:
        return draft
    settings = bootstrap.read_settings()
    sources = [_source(name, store, settings) for name in named]
    rule = ReuseRule(bootstrap.clock().now(), timedelta(days=spec.reuse_within_days))
    found = Reuse.found(draft.plan, sources, rule)
    return Draft(draft.plan.with_reused(found.origins), draft.inputs, found)


def _source(name: str, store: str | None, settings: bootstrap.Settings) -> Source:
    """Find the store of a sweep that is named by its id, or by the place of its folder."""
    place, _, sweep = name.rstrip("/").rpartition(f"/{SWEEPS}")
    return Source(bootstrap.open_store(place or store, settings), SweepId(sweep))


def draft_proofs(sweep_file: Path, tasks: Sequence[str]) -> Draft:
    """Plan the proofs of a file's tasks; errors as `draft_plan`."""
    return _draft(lambda blobs: plan_proofs(sweep_file, tasks, blobs, bootstrap.plugins()))


def _draft(plan: Callable[[BlobStore], Plan]) -> Draft:
    held = bootstrap.store_in_memory().blobs
    planned = plan(held)
    return Draft(planned, tuple(held.bodies.values()))
