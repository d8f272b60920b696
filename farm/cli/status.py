"""farm status."""

from dataclasses import dataclass
from enum import StrEnum

import click
from pydantic import JsonValue

from farm import bootstrap
from farm.bootstrap import Exchange, Settings
from farm.cli.common import answer, json_option, place_of, store_option
from farm.cli.counting import ArmCount, count, outline
from farm.cli.display import live_line
from farm.cli.hours import hours_line
from farm.cli.recent_faults import ToldFault, recent_faults
from farm.cli.report_warnings import report_warnings
from farm.cli.shards import shard_lines
from farm.cli.spent import spent_words
from farm.cli.uncollected import uncollected
from farm.errors import TransientError
from farm.model import Close, Lease, LiveNote, Plan, SweepId, parse_record, unserved
from farm.model.keys import cancel_key, close_key, report_key, seal_key, settlement_key
from farm.ports import Store
from farm.reporting.text import one_line


class Stage(StrEnum):
    """How far a sweep's end is."""

    OPEN = "open"
    CLOSED = "closed"
    SETTLED = "settled"
    SEALED = "sealed"


@dataclass(frozen=True, slots=True)
class Leases:
    """What Redis knows of running cells, or why it can't be asked."""

    exchange: Exchange | None
    why_not: str = ""

    def running(self, sweep: SweepId) -> tuple[Lease, ...] | None:
        """List the live leases; None when nobody can be asked."""
        try:
            return None if self.exchange is None else self.exchange.leases.live(sweep)
        except TransientError:
            return None

    def unserved(self, plan: Plan) -> tuple[str, ...]:
        """Say which arms no living host can run; nothing where no host lives, or nobody can be asked."""
        try:
            return () if self.exchange is None else tuple(unserved(plan, self.exchange.hosts.live()))
        except TransientError:
            return ()

    def budget(self, sweep: SweepId) -> str | None:
        """Say how much of the sweep's budget is used, as its coordinator says; None where none is at work."""
        try:
            claims = () if self.exchange is None else self.exchange.shares.claims()
        except TransientError:
            return None
        words = [claim.budget for claim in claims if claim.sweep.split("/")[0] == sweep and claim.budget]
        return "; ".join(words) or None

    def notes(self, sweep: SweepId, running: tuple[Lease, ...]) -> tuple[LiveNote, ...]:
        """List how far the running sessions are, as far as they say."""
        alive = {lease.cell for lease in running}
        try:
            told = () if self.exchange is None else self.exchange.live.all(sweep)
        except TransientError:
            return ()
        return tuple(note for note in told if note.cell in alive)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one sweep is."""

    sweep: SweepId
    stage: Stage
    reason: str | None
    arms: tuple[ArmCount, ...]
    running: int | None
    """Live leases; None when nobody could be asked."""
    live: tuple[LiveNote, ...] = ()
    budget: str | None = None
    """How much of it is used."""
    hours: str | None = None
    """Why cells wait that no time window lets begin."""
    unserved: tuple[str, ...] = ()
    """Why cells wait that no host can run."""
    shards: tuple[str, ...] = ()
    """How each stands; none where the sweep is in one piece."""
    faults: tuple[ToldFault, ...] = ()
    """The last ones; a sealed sweep's stand in its report."""
    warnings: tuple[str, ...] = ()
    """Of a sealed sweep's report."""

    @property
    def planned(self) -> int:
        return sum(arm.planned for arm in self.arms)

    @property
    def done(self) -> int:
        return sum(arm.measured + arm.excluded for arm in self.arms)


def _stage(store: Store, sweep: SweepId) -> Stage:
    ends = ((seal_key, Stage.SEALED), (settlement_key, Stage.SETTLED), (close_key, Stage.CLOSED))
    return next((stage for key, stage in ends if store.records.read(key(sweep)) is not None), Stage.OPEN)


def _reason(store: Store, sweep: SweepId) -> str | None:
    body = store.records.read(close_key(sweep))
    if body is not None:
        return parse_record(Close, body, close_key(sweep)).reason.value
    return "cancelled, not settled yet" if store.records.read(cancel_key(sweep)) is not None else None


def _leases(settings: Settings) -> Leases:
    if settings.redis_url is None:
        return Leases(None, "FARM_REDIS_URL is not set; a local run tells it in its own terminal")
    try:
        return Leases(bootstrap.connect(settings.redis_url))
    except TransientError as error:
        return Leases(None, str(error))


def standing(store: Store, sweep: SweepId, leases: Leases) -> Standing:
    """Read from the store how far a sweep is, and from the lease book, when there is one, what runs now."""
    outlined = outline(store, sweep)
    plan = outlined.plan
    opening = bootstrap.opening(store, sweep)
    counted = count(store.records, outlined, opening.shards)
    stage = _stage(store, sweep)
    running = () if stage is Stage.SEALED else leases.running(sweep)
    return Standing(
        sweep,
        stage,
        _reason(store, sweep),
        counted.arms,
        None if running is None else len(running),
        leases.notes(sweep, running or ()),
        (leases.budget(sweep) or spent_words(store.records, outlined, counted)) if stage is Stage.OPEN else None,
        hours_line(plan, bootstrap.clock().now()) if stage is Stage.OPEN else None,
        leases.unserved(plan) if stage is Stage.OPEN else (),
        shard_lines(opening, store.records),
        () if stage is Stage.SEALED else recent_faults(store.records, outlined, counted),
        report_warnings(store.records, sweep) if stage is Stage.SEALED else (),
    )


def _lines(found: Standing, store: Store, leases: Leases) -> list[str]:
    why_not = leases.why_not or "Redis did not answer"
    running = f"unknown ({why_not})" if found.running is None else str(found.running)
    reason = f" ({found.reason})" if found.reason else ""
    lines = [f"{found.sweep}: {found.stage}{reason}, {found.done}/{found.planned} done, running: {running}"]
    lines += [
        f"  {arm.arm:<24} {arm.measured + arm.excluded}/{arm.planned} done, {arm.excluded} failed" for arm in found.arms
    ]
    lines += [f"  {one_line(sentence)}" for sentence in found.shards]
    lines += [f"  {live_line(note, bootstrap.clock().now())}" for note in found.live]
    lines += [f"  {found.hours}"] if found.hours else []
    lines += [f"  budget: {found.budget}"] if found.budget else []
    lines += [f"  {one_line(sentence)}" for sentence in found.unserved]
    lines += [
        f"  {fault.cell} attempt {fault.attempt} ({fault.kind} fault): {one_line(fault.detail)}"
        for fault in found.faults
    ]
    lines += [f"  warning: {one_line(warning, most=500)}" for warning in found.warnings]
    if found.stage is Stage.SEALED:
        lines.append(f"  report {place_of(store, report_key(found.sweep, 'report.html'))}")
    return lines


def _document(found: Standing) -> dict[str, JsonValue]:
    return {
        "sweep": found.sweep,
        "stage": found.stage,
        "close": found.reason,
        "planned": found.planned,
        "done": found.done,
        "running": found.running,
        "hours": found.hours,
        "budget": found.budget,
        "unserved": list(found.unserved),
        "shards": list(found.shards),
        "faults": [
            {"cell": one.cell, "attempt": one.attempt, "kind": one.kind, "detail": one_line(one.detail)}
            for one in found.faults
        ],
        "warnings": list(found.warnings),
        "live": [note.model_dump(mode="json") for note in found.live],
        "arms": [
            {"arm": arm.arm, "planned": arm.planned, "measured": arm.measured, "excluded": arm.excluded}
            for arm in found.arms
        ],
    }


@click.command(name="status", epilog="Example:  farm status quickstart-3f9a1c2b4d5e.1")
@click.argument("sweep", type=SweepId, required=False)
@store_option
@json_option
def command(sweep: SweepId | None, *, store: str | None, as_json: bool) -> None:
    """Show how far one sweep is, or every sweep of the store."""
    settings = bootstrap.read_settings()
    place = bootstrap.open_store(store, settings)
    chosen = [sweep] if sweep else bootstrap.sweeps(place)
    with uncollected():
        leases = _leases(settings)
        found = [standing(place, each, leases) for each in chosen]
    lines = [line for each in found for line in _lines(each, place, leases)] or [f"{place.url} holds no sweep"]
    answer({"store": place.url, "sweeps": [_document(each) for each in found]}, lines, as_json=as_json)
