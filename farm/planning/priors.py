"""What a sealed sweep measured: read back along its chain of digests, from the seal to the outcome.

What must stay true: nothing is believed that the seal does not lead to. A damaged head raises; a damaged record of one
cell makes that one cell unfit, so that it is measured again.
"""

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from farm.errors import IntegrityError, SpecError
from farm.gates.table import Row
from farm.gates.tabulate import SettledRecords, tabulate
from farm.model import (
    ArmRole,
    AttemptCleanup,
    CellId,
    CleanupRecord,
    Close,
    Digest,
    Origin,
    Outcome,
    Plan,
    Result,
    Seal,
    SettledCell,
    Settlement,
    SweepId,
    canonical_json,
    parse_record,
    taken_over,
)
from farm.model.keys import (
    attempt_cleanup_key,
    cleanup_key,
    close_key,
    outcome_key,
    plan_key,
    result_key,
    seal_key,
    settlement_key,
    sweep_root,
)
from farm.ports import Store

_READERS = 16

V = TypeVar("V", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Prior:
    """One result of a sealed sweep, as it was first measured."""

    row: Row
    role: ArmRole
    """Of its arm, in that sweep."""
    origin: Origin
    outcome: Outcome
    body: bytes
    """The bytes of the outcome where it was measured."""
    store: Store
    """Where the bytes that it names can be had."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A result whose records are not what was sealed."""

    cell: CellId
    why: str


@dataclass(frozen=True, slots=True)
class _Counted:
    """What the settlement counts of one cell."""

    outcome: Outcome
    body: bytes
    cleanup: AttemptCleanup | None


def read_priors(store: Store, sweep: SweepId, cells: Collection[CellId]) -> Iterator[Prior | Damaged]:
    """Read what the sweep measured of `cells`, in its own order.

    Raises SpecError for a sweep that is not sealed, IntegrityError where what heads it is not what was sealed.
    """
    chain = _Chain.of(store, sweep)
    wanted = [settled for settled in chain.settlement.cells if settled.cell in cells and settled.result is not None]
    counted = dict[CellId, _Counted]()
    with ThreadPoolExecutor(_READERS) as readers:
        for settled, found in zip(wanted, readers.map(chain.counted, wanted), strict=True):
            if isinstance(found, Damaged):
                yield found
            else:
                counted[settled.cell] = found
        rows = {row.cell: row for row in chain.rows(counted)}
        yield from readers.map(lambda cell: chain.prior(counted[cell], rows[cell]), counted)


@dataclass(frozen=True, slots=True)
class _Chain:
    """The head of a sealed sweep, each record of it as sealed."""

    store: Store
    sweep: SweepId
    plan: Plan
    plan_digest: Digest
    close: Close
    settlement: Settlement
    cleanup: CleanupRecord

    @classmethod
    def of(cls, store: Store, sweep: SweepId) -> "_Chain":
        body = store.records.read(seal_key(sweep))
        if body is None:
            raise SpecError(
                f"{store.url} holds no sealed sweep {sweep!r} whose results could be taken over; check its id and the "
                f"store, or finalize it: farm finalize {sweep}"
            )
        seal = parse_record(Seal, body, seal_key(sweep))
        sealed = {sweep_root(sweep) + one.key: one.digest for one in seal.records}
        chain = _Sealed(store, sealed)
        return cls(
            store=store,
            sweep=sweep,
            plan=chain.read(plan_key(sweep), Plan),
            plan_digest=sealed[plan_key(sweep)],
            close=chain.read(close_key(sweep), Close),
            settlement=chain.read(settlement_key(sweep), Settlement),
            cleanup=chain.read(cleanup_key(sweep), CleanupRecord),
        )

    def counted(self, settled: SettledCell) -> _Counted | Damaged:
        """Read the outcome that a cell's result counts, and what became of its workspace."""
        try:
            return self._counted(settled, settled.result)
        except IntegrityError as error:
            return Damaged(settled.cell, str(error))

    def _counted(self, settled: SettledCell, digest: Digest | None) -> _Counted:
        sealed = {sweep_root(self.sweep) + one.key: one.digest for one in settled.attempts}
        chain = _Sealed(
            self.store, sealed if digest is None else sealed | {result_key(self.sweep, settled.cell): digest}
        )
        result = chain.read(result_key(self.sweep, settled.cell), Result)
        key = outcome_key(self.sweep, settled.cell, result.attempt)
        if sealed.get(key) != result.outcome:
            raise IntegrityError(f"the result of {settled.cell} names outcome {result.outcome}, which was not settled")
        cleaned = attempt_cleanup_key(self.sweep, settled.cell, result.attempt)
        body = chain.body(key)
        return _Counted(
            outcome=parse_record(Outcome, body, key),
            body=body,
            cleanup=chain.read(cleaned, AttemptCleanup) if cleaned in sealed else None,
        )

    def rows(self, counted: Mapping[CellId, _Counted]) -> tuple[Row, ...]:
        """Give the sweep's rows, as its own gates saw them."""
        records = SettledRecords(
            plan=self.plan,
            close=self.close,
            settlement=self.settlement,
            cleanup=self.cleanup,
            outcomes={cell: one.outcome for cell, one in counted.items()},
            cleanups={cell: one.cleanup for cell, one in counted.items() if one.cleanup is not None},
        )
        return tabulate(records).rows

    def prior(self, counted: _Counted, row: Row) -> Prior | Damaged:
        """Follow a result that was itself taken over to where it was measured."""
        try:
            return self._prior(counted, row)
        except IntegrityError as error:
            return Damaged(counted.outcome.cell, str(error))

    def _prior(self, counted: _Counted, row: Row) -> Prior:
        outcome, body = counted.outcome, counted.body
        origin = outcome.origin
        if origin is None:
            origin = Origin(
                sweep=self.sweep, attempt=outcome.attempt, outcome=Digest.of(body), measured_at=outcome.ended_at
            )
        else:
            body = self.store.blobs.get(origin.outcome)
            first = parse_record(Outcome, body, f"the outcome that {row.cell} was taken over from")
            if canonical_json(taken_over(first, origin, self.sweep, self.plan_digest)) != counted.body:
                raise IntegrityError(f"{row.cell} of {self.sweep} is not what {origin.sweep} measured")
            outcome = first
        return Prior(row, self.plan.arm_by_name[row.arm].role, origin, outcome, body, self.store)


@dataclass(frozen=True, slots=True)
class _Sealed:
    """Reads records that somebody has sealed, by key."""

    store: Store
    digests: Mapping[str, Digest]

    def read(self, key: str, kind: type[V]) -> V:
        return parse_record(kind, self.body(key), key)

    def body(self, key: str) -> bytes:
        sealed, body = self.digests.get(key), self.store.records.read(key)
        if sealed is None or body is None:
            raise IntegrityError(f"{key} is {'not sealed' if sealed is None else 'gone'}: the sweep is not whole")
        if Digest.of(body) != sealed:
            raise IntegrityError(f"{key} has digest {Digest.of(body)}; {sealed} was sealed: the bytes were changed")
        return body
