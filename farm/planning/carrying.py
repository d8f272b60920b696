"""Bring what a plan takes over into the store that it is submitted to: bytes by digest, each proven as it arrives."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from farm.errors import IntegrityError
from farm.model import CellId, Derived, Digest, Origin, Plan, SweepId, build_lock, parse_record
from farm.model.keys import derived_key
from farm.planning.priors import Prior, read_priors
from farm.planning.reuse import ReuseRule, Selection, eligible, select
from farm.ports import Store

_CARRIERS = 16


@dataclass(frozen=True, slots=True)
class Source:
    """An earlier sweep and where it stands."""

    store: Store
    sweep: SweepId


@dataclass(frozen=True, slots=True)
class Reuse:
    """What a plan takes over."""

    selection: Selection = field(default_factory=Selection)

    @classmethod
    def found(cls, plan: Plan, sources: Sequence[Source], rule: ReuseRule) -> "Reuse":
        """Look for the plan's cells in earlier sweeps; errors as `read_priors`."""
        wanted = {cell.id for cell in eligible(plan)}
        found = (one for source in sources for one in read_priors(source.store, source.sweep, wanted))
        return cls(select(plan, found, rule))

    @property
    def origins(self) -> Mapping[CellId, Origin]:
        """Give what the plan pins."""
        return {cell: prior.origin for cell, prior in self.selection.taken.items()}

    def carry(self, plan: Plan, target: Store) -> Plan:
        """Copy every byte into `target`; return the plan without the cells of which some are missing or changed."""
        damaged = set(self._damaged(plan, target))
        if not damaged:
            return plan
        return plan.with_reused({cell: origin for cell, origin in plan.reused.items() if cell not in damaged})

    def _damaged(self, plan: Plan, target: Store) -> Iterator[CellId]:
        taken = self.selection.taken

        def is_whole(cell: CellId) -> bool:
            spare = Path(scratch) / cell
            try:
                _carry(taken[cell], target, spare)
                _carry_builds(plan, taken[cell], target, spare)
            except IntegrityError:
                return False
            return True

        with TemporaryDirectory(prefix="farm-reuse-") as scratch, ThreadPoolExecutor(_CARRIERS) as carriers:
            yield from (cell for cell, whole in zip(taken, carriers.map(is_whole, taken), strict=True) if not whole)


def _carry(prior: Prior, target: Store, spare: Path) -> None:
    """Read every byte, though the store be the same: what is taken over must be there and be what it was."""
    target.blobs.put(prior.body)
    for artifact in prior.outcome.artifacts:
        _copy(prior.store, artifact.digest, target, spare)


def _carry_builds(plan: Plan, prior: Prior, target: Store, spare: Path) -> None:
    """Bring what builds had made, for those that are measured beside it; raise IntegrityError where it is another's."""
    evidence, task = prior.outcome.evidence, plan.task_by_name[prior.row.task]
    locks = {build.name: build_lock(plan, task, build) for build in task.builds}
    for name, digest in () if evidence is None else evidence.builds.items():
        if name not in locks:
            raise IntegrityError(f"{prior.row.cell} names a build {name!r} that its task has not")
        _copy(prior.store, digest, target, spare)
        key = derived_key(locks[name])
        body = prior.store.records.read(key)
        if body is not None:
            target.records.create(key, body)
        if _files(target, key) != digest:
            raise IntegrityError(f"{key} is not what the build {name} had made for {prior.row.cell}")


def _files(store: Store, key: str) -> Digest | None:
    body = store.records.read(key)
    return None if body is None else parse_record(Derived, body, key).files


def _copy(source: Store, digest: Digest, target: Store, spare: Path) -> None:
    source.blobs.fetch(digest, spare)
    target.blobs.put_file(spare)
    spare.unlink()
