"""Verifying a sealed sweep: every digest from the seal down to the blobs, and everything that can be computed again.

It needs the store alone. What it proves: nothing in this sweep was changed, lost or added since it was sealed, and
verdicts and reports are what the settled records give. What it cannot prove without a signature: that nobody wrote
the whole chain anew, seal included. Who must know that has the seal signed (farm.attestation), or keeps its digest
elsewhere and compares it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from farm.audit.blobs import check_blobs, named_blobs
from farm.audit.cells import CellWalk, WalkedCell, tabulate_walked
from farm.audit.findings import Audit, Notebook
from farm.audit.links import Links
from farm.audit.origins import check_origins
from farm.audit.reader import Read, Reader
from farm.audit.rebuild import Rebuild, Remake, Settled
from farm.audit.registered import check_lock
from farm.errors import SpecError
from farm.gates.contamination import contaminations
from farm.gates.protocol import GateSource
from farm.model import (
    CellId,
    CleanupRecord,
    Close,
    Opening,
    Plan,
    Seal,
    Settlement,
    ShardClose,
    ShardOpening,
    SweepId,
    Verdict,
    sweep_id,
)
from farm.model.keys import (
    BLOBS,
    REPORT_FILES,
    attestations_prefix,
    cleanup_key,
    close_key,
    open_key,
    plan_key,
    report_key,
    result_key,
    results_prefix,
    seal_key,
    settlement_key,
    sweep_root,
    verdict_key,
)
from farm.ports import Store

V = TypeVar("V", bound=BaseModel)


def verify(store: Store, sweep: SweepId, gates: GateSource, remake: Remake) -> Audit:
    """Walk the whole chain and return every flaw found; `remake` renders the sweep's report again.

    Raises SpecError when the sweep is not sealed, TransientError when the store does not answer.
    """
    if store.records.read(seal_key(sweep)) is None:
        raise SpecError(
            f"sweep {sweep!r} has no seal in {store.url}: check its id, or finalize it: farm finalize {sweep}"
        )
    return _Verification(store, sweep, gates, remake).run()


@dataclass(frozen=True, slots=True)
class _Head:
    """The records at the top, as far as they could be read."""

    plan: Plan | None
    opening: Opening | None
    close: Close | None
    settlement: Settlement | None
    cleanup: CleanupRecord | None
    verdicts: dict[str, Verdict]


@dataclass(slots=True)
class _Verification:
    store: Store
    sweep: SweepId
    gates: GateSource
    remake: Remake
    notebook: Notebook = field(default_factory=Notebook)
    reader: Reader = field(init=False)
    links: Links = field(init=False)

    def __post_init__(self) -> None:
        self.reader = Reader(self.store.records, self.notebook)
        self.links = Links(self.reader.digests)

    def run(self) -> Audit:
        seal = self._value(self.reader.read(Seal, seal_key(self.sweep)))
        head = self._head()
        self._link_head(head)
        if seal is not None:
            self._link_seal(seal, head)
        cells = self._walk(head)
        attempts = [one for walked in cells.values() for one in walked.records]
        blobs = {} if head.plan is None else named_blobs(head.plan, attempts)
        if head.plan is not None:
            check_origins(self.sweep, head.plan, cells, self.store.blobs, self.notebook)
            check_lock(self.sweep, head.plan, self.store.blobs, self.notebook)
        check_blobs(blobs, self.store.blobs, self.notebook)
        uncounted = tuple(self._strangers(head))
        made = self._made_keys()
        self.links.blame(frozenset(self.reader.digests.keys() - made), self.notebook)
        self._rebuild(head, cells)
        self.links.blame(made, self.notebook)
        return Audit(
            sweep=self.sweep,
            flaws=tuple(sorted(self.notebook.flaws)),
            uncounted=uncounted,
            unchecked=tuple(sorted(self.notebook.unchecked)),
            records=len(self.reader.digests),
            blobs=len(blobs),
            suspicions=self.notebook.suspicions,
        )

    def _made_keys(self) -> frozenset[str]:
        """List what is blamed only after verdicts and reports were made again, since that tells who is wrong."""
        root = sweep_root(self.sweep)
        made = (key for key in self.reader.digests if key.startswith((f"{root}verdicts/", f"{root}report/")))
        return frozenset({open_key(self.sweep), *made})

    @staticmethod
    def _value(read: Read[V] | None) -> V | None:
        return None if read is None else read.value

    def _head(self) -> _Head:
        plan = self._value(self.reader.read(Plan, plan_key(self.sweep)))
        verdicts = dict[str, Verdict]()
        for pin in () if plan is None else plan.gates:
            verdict = self._value(self.reader.read(Verdict, verdict_key(self.sweep, pin.name)))
            if verdict is not None:
                verdicts[pin.name] = verdict
        return _Head(
            plan=plan,
            opening=self._value(self.reader.read(Opening, open_key(self.sweep))),
            close=self._value(self.reader.read(Close, close_key(self.sweep))),
            settlement=self._value(self.reader.read(Settlement, settlement_key(self.sweep))),
            cleanup=self._value(self.reader.read(CleanupRecord, cleanup_key(self.sweep))),
            verdicts=verdicts,
        )

    def _link_head(self, head: _Head) -> None:
        """Link what the records at the top say of one another."""
        plan, settlement = plan_key(self.sweep), settlement_key(self.sweep)
        self._check_sweeps(head)
        if head.opening is not None:
            self.links.add(open_key(self.sweep), plan, head.opening.plan)
            self._check_name(head.opening, head.plan)
        if head.close is not None:
            self._link_shards(head.close)
        if head.settlement is not None:
            self.links.add(settlement, plan, head.settlement.plan)
            self.links.add(settlement, close_key(self.sweep), head.settlement.close)
        if head.cleanup is not None:
            self.links.add(cleanup_key(self.sweep), settlement, head.cleanup.settlement)
        for name, verdict in head.verdicts.items():
            self.links.add(verdict_key(self.sweep, name), settlement, verdict.settlement)
            self.links.add(verdict_key(self.sweep, name), cleanup_key(self.sweep), verdict.cleanup)

    def _link_shards(self, close: Close) -> None:
        """Link the records of shards, which the close record names."""
        for sealed in close.shards:
            key = sweep_root(self.sweep) + sealed.key
            kind: type[ShardClose | ShardOpening] = ShardClose if key.endswith("/close.json") else ShardOpening
            said = self._value(self.reader.read(kind, key))
            if said is not None and said.sweep != self.sweep:
                self.notebook.flaw(key, f"it is of the sweep {said.sweep!r}")
            self.links.add(close_key(self.sweep), key, sealed.digest)

    def _check_sweeps(self, head: _Head) -> None:
        """Check that each record at the top is of this sweep."""
        said = {
            open_key(self.sweep): None if head.opening is None else head.opening.sweep,
            close_key(self.sweep): None if head.close is None else head.close.sweep,
            settlement_key(self.sweep): None if head.settlement is None else head.settlement.sweep,
            cleanup_key(self.sweep): None if head.cleanup is None else head.cleanup.sweep,
        }
        said |= {verdict_key(self.sweep, name): verdict.sweep for name, verdict in head.verdicts.items()}
        for key, sweep in said.items():
            if sweep not in {None, self.sweep}:
                self.notebook.flaw(key, f"it is of the sweep {sweep!r}")

    def _check_name(self, opening: Opening, plan: Plan | None) -> None:
        """Check that the sweep is named after its plan and edition."""
        digest = self.reader.digests.get(plan_key(self.sweep))
        if plan is None or digest is None:
            return
        if sweep_id(plan.name, digest, opening.edition) == self.sweep:
            self.links.add(self.sweep, plan_key(self.sweep), digest)
            return
        stem = self.sweep.rpartition(".")[0]
        is_plans = sweep_id(plan.name, digest, 1).rpartition(".")[0] == stem
        where = open_key(self.sweep) if is_plans else plan_key(self.sweep)
        self.notebook.flaw(where, f"with it the sweep would not be called {self.sweep}")

    def _link_seal(self, seal: Seal, head: _Head) -> None:
        where, root = seal_key(self.sweep), sweep_root(self.sweep)
        if seal.sweep != self.sweep:
            self.notebook.flaw(where, f"it seals the sweep {seal.sweep!r}")
        gates = () if head.plan is None else head.plan.gates
        head_keys = (plan_key, open_key, close_key, settlement_key, cleanup_key)
        needed = {key(self.sweep) for key in head_keys} | {verdict_key(self.sweep, pin.name) for pin in gates}
        needed |= {report_key(self.sweep, name) for name in REPORT_FILES}
        named = {root + sealed.key for sealed in seal.records}
        for key in sorted(needed - named):
            self.notebook.flaw(where, f"it does not name {key}")
        for sealed in seal.records:
            key = root + sealed.key
            if key not in self.reader.digests and self.reader.body(key) is None and key not in needed:
                self.notebook.flaw(where, f"it names {key}, which no sealed sweep of this plan has")
            self.links.add(where, key, sealed.digest)

    def _walk(self, head: _Head) -> dict[CellId, WalkedCell]:
        if head.plan is None or head.settlement is None:
            return {}
        settled = [cell.cell for cell in head.settlement.cells]
        if settled != [cell.id for cell in head.plan.cells]:
            self.notebook.flaw(settlement_key(self.sweep), "its cells are not the plan's, each once and in order")
        walk = CellWalk(self.sweep, head.plan, self.reader, self.links)
        return {cell.cell: walk.walk(cell) for cell in head.settlement.cells}

    def _strangers(self, head: _Head) -> Iterator[str]:
        """Yield keys that nothing sealed names.

        A result among them is a flaw, unless the settlement left its cell open: it landed beside the settlement.
        """
        settled = () if head.settlement is None else head.settlement.cells
        beyond = (  # they prove nothing here, and nothing is made from them
            f"{sweep_root(self.sweep)}checkpoints/",
            attestations_prefix(self.sweep),
        )
        beside = {result_key(self.sweep, cell.cell) for cell in settled if cell.unsettled is not None}
        for key in self.store.records.keys(sweep_root(self.sweep)):
            if key in self.reader.digests or key.startswith(beyond):
                continue
            is_result = key.startswith(results_prefix(self.sweep)) and key not in beside
            if is_result and head.settlement is not None:
                self.notebook.flaw(key, "the settlement does not know this result")
            else:
                yield key

    def _rebuild(self, head: _Head, cells: dict[CellId, WalkedCell]) -> None:
        match head:
            case _Head(
                plan=Plan() as plan,
                opening=Opening() as opening,
                close=Close() as close,
                settlement=Settlement() as settlement,
                cleanup=CleanupRecord() as cleanup,
            ) if not self._is_damaged(plan, head):
                table = tabulate_walked(plan, close, settlement, cleanup, cells)
                self.notebook.suspicions = tuple(found.sentence for found in contaminations(table.rows))
                settled = Settled(
                    sweep=self.sweep,
                    plan=plan,
                    opening=opening,
                    settlement=settlement,
                    cleanup=cleanup,
                    table=table,
                )
                Rebuild(settled, self.reader, self.links).run(self.gates, self.remake)
            case _:
                for key in sorted(self._made_keys() - {open_key(self.sweep)}):
                    self.notebook.leave(key, "not made again: what it is made from is damaged")

    def _is_damaged(self, plan: Plan, head: _Head) -> bool:
        """Say whether a record below the verdicts is flawed; a damaged seal or blob changes nothing in them."""
        apart = self._made_keys() | {seal_key(self.sweep)}
        below = (flaw for flaw in self.notebook.flaws if flaw.where not in apart and not flaw.where.startswith(BLOBS))
        return any(below) or len(head.verdicts) != len(plan.gates)
