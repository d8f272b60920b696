"""Plans as a command line makes them: drawn up in memory, and stored when nothing is left to complain of.

Apart from `farm.bootstrap`, as planning takes longer to import than a verb that only looks may take.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from pydantic import ValidationError

from farm import bootstrap
from farm.errors import SpecError
from farm.gates.table import Row
from farm.model import Digest, Plan, Preregistration, SweepId, SweepLock, SweepSpec, canonical_json
from farm.model.keys import SWEEPS
from farm.planning import plan_sweep
from farm.planning.carrying import Reuse, Source
from farm.planning.forecast import Forecast, forecast_by
from farm.planning.load import read_spec
from farm.planning.locking import Cut, ensure_locked, lock_subject, pilot_of, read_lock
from farm.planning.locking_source import look_at_source
from farm.planning.priors import Prior, read_priors
from farm.planning.proofs import plan_proofs
from farm.planning.reuse import ReuseRule
from farm.ports import BlobStore, Store

_MOST_STEM = 50
_SHORT = 12


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan whose inputs are still in memory, so that a mistake leaves nothing in the store."""

    plan: Plan
    inputs: tuple[bytes, ...]
    reuse: Reuse = field(default_factory=Reuse)
    """What it takes over from earlier sweeps."""
    cost: Forecast = field(default_factory=Forecast)
    """Of what it does not take over."""
    objections: tuple[str, ...] = ()
    """Why what it is locked for can't be decided by it as things stand."""

    def deliver(self, store: Store) -> Plan:
        """Store the inputs, and the bytes that are taken over, and return the plan.

        A cell of which bytes are missing or changed is not taken over: the plan that is returned pays for it.
        """
        for body in self.inputs:
            store.blobs.put(body)
        return self.reuse.carry(self.plan, store)


@dataclass(frozen=True, slots=True)
class Registering:
    """How a plan is held against what was fixed beforehand, and whether it is a pilot."""

    lock: Path | None = None
    """In place of the one that the sweep file names."""
    cut: Cut = field(default_factory=Cut)
    priors: tuple[str, ...] = ()
    """Sealed sweeps by which the cost is forecast, named as in `reuse`."""


def draft_plan(
    sweep_file: Path,
    *,
    expensive: bool = False,
    reuse: Sequence[str] = (),
    store: str | None = None,
    registering: Registering | None = None,
) -> Draft:
    """Plan a file's sweep, expensive tasks only when asked for; raise SpecError for whatever a person must change.

    `reuse` names sweeps besides those of the file: by id in the store, or by the place of their folder in another.
    A plan that differs from its lock is such an error too; a lock that is not published is the draft's objection.
    """
    draft = _draft(lambda blobs: plan_sweep(sweep_file, blobs, bootstrap.plugins(), expensive=expensive))
    spec = read_spec(sweep_file).spec
    asked = registering or Registering()
    draft = _registered(draft, sweep_file, spec, asked)
    draft = _reusing(draft, spec, _sources((*spec.reuse, *reuse), store))
    return replace(draft, cost=forecast_by(draft.plan, _sources(asked.priors, store)))


def prior_rows(plan: Plan, priors: Sequence[str], store: str | None) -> tuple[Row, ...]:
    """Read what sealed sweeps measured of the plan's tasks under its arms; a damaged result is left out."""
    found = (
        prior
        for source in _sources(priors, store)
        for prior in read_priors(source.store, source.sweep, {cell.id for cell in plan.cells})
    )
    return tuple(prior.row for prior in found if isinstance(prior, Prior))


def _reusing(draft: Draft, spec: SweepSpec, sources: Sequence[Source]) -> Draft:
    """Take over what earlier sweeps measured; a locked sweep does not."""
    if not sources:
        return draft
    known = draft.plan.preregistration
    if known is not None and known.is_locked:
        objection = "a locked sweep measures every cell itself; drop `reuse:` and --reuse"
        return replace(draft, objections=(*draft.objections, objection))
    rule = ReuseRule(bootstrap.clock().now(), timedelta(days=spec.reuse_within_days))
    found = Reuse.found(draft.plan, sources, rule)
    return replace(draft, plan=draft.plan.with_reused(found.origins), reuse=found)


def _registered(draft: Draft, sweep_file: Path, spec: SweepSpec, asked: Registering) -> Draft:
    """Hold a draft against its lock, and cut it to a pilot where that was asked for."""
    file = asked.lock or (None if spec.lock is None else sweep_file.parent / spec.lock)
    if file is None:
        return replace(draft, plan=pilot_of(draft.plan, asked.cut))
    lock = read_lock(file)
    pin = ensure_locked(lock, lock_subject(spec, draft.plan))
    inputs = (*draft.inputs, canonical_json(lock))
    whole = draft.plan.with_preregistration(Preregistration(lock=pin))
    plan = pilot_of(whole, asked.cut)
    if plan is not whole:
        return replace(draft, plan=plan, inputs=inputs)
    source = look_at_source(sweep_file, file)
    plan = draft.plan.with_preregistration(Preregistration(lock=pin, source=source.state))
    return replace(draft, plan=plan, inputs=inputs, objections=source.problems)


def draft_lock(sweep_file: Path, named: str | None, statement: str | None, *, expensive: bool = False) -> SweepLock:
    """Take what a lock of the file's sweep fixes; without a name it is called after the sweep and its subject.

    Raises SpecError for whatever a person must change.
    """
    plan = _draft(lambda blobs: plan_sweep(sweep_file, blobs, bootstrap.plugins(), expensive=expensive)).plan
    subject = lock_subject(read_spec(sweep_file).spec, plan)
    stem = plan.name[:_MOST_STEM].rstrip("-")
    name = named or f"{stem}-{Digest.of(canonical_json(subject))[:_SHORT]}"
    said = statement or f"{', '.join(arm.name for arm in plan.arms)} are compared on {len(plan.tasks)} tasks."
    try:
        return SweepLock(id=name, statement=said, locked_at=bootstrap.clock().now(), subject=subject)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SpecError(f"the lock's {first['loc'][0]} is {first['input']!r}: {first['msg']}") from None


def _sources(names: Sequence[str], store: str | None) -> Sequence[Source]:
    """Find the stores of sweeps; settings are read for them alone."""
    if not names:
        return ()
    settings = bootstrap.read_settings()
    return [_source(name, store, settings) for name in dict.fromkeys(names)]


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
