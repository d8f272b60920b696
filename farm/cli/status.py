"""farm status."""

from collections import Counter
from dataclasses import dataclass

import click
from pydantic import JsonValue

from farm import bootstrap
from farm.bootstrap import Settings
from farm.cli.common import answer, json_option, store_option
from farm.cli.finishing import place_of
from farm.errors import TransientError
from farm.model import Close, Plan, Result, ResultStatus, Settlement, SweepId, parse_record
from farm.model.keys import cancel_key, close_key, report_key, result_key, results_prefix, seal_key, settlement_key
from farm.ports import Store


@dataclass(frozen=True, slots=True)
class ArmCount:
    """One arm's cells by how they stand."""

    arm: str
    planned: int
    measured: int
    excluded: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one sweep is."""

    sweep: SweepId
    stage: str
    """open, closed, settled or sealed."""
    reason: str | None
    arms: tuple[ArmCount, ...]
    running: int | None
    """Live leases; None when no Redis is named or it does not answer."""

    @property
    def planned(self) -> int:
        return sum(arm.planned for arm in self.arms)

    @property
    def done(self) -> int:
        return sum(arm.measured + arm.excluded for arm in self.arms)


def _stage(store: Store, sweep: SweepId) -> tuple[str, str | None]:
    records = store.records
    body = records.read(close_key(sweep))
    if body is None and records.read(cancel_key(sweep)) is not None:
        return "open", "cancelled, not settled yet"
    reason = None if body is None else parse_record(Close, body, close_key(sweep)).reason.value
    if records.read(seal_key(sweep)) is not None:
        return "sealed", reason
    settled = records.read(settlement_key(sweep))
    if settled is not None:
        parse_record(Settlement, settled, settlement_key(sweep))
        return "settled", reason
    return ("open" if body is None else "closed"), reason


def _arms(store: Store, sweep: SweepId, plan: Plan) -> tuple[ArmCount, ...]:
    counts = Counter[tuple[str, ResultStatus]]()
    there = set(store.records.keys(results_prefix(sweep)))
    for cell in plan.cells:
        key = result_key(sweep, cell.id)
        body = store.records.read(key) if key in there else None
        if body is not None:
            counts[cell.arm, parse_record(Result, body, key).status] += 1
    planned = Counter(cell.arm for cell in plan.cells)
    return tuple(
        ArmCount(
            arm.name,
            planned[arm.name],
            counts[arm.name, ResultStatus.MEASURED],
            counts[arm.name, ResultStatus.EXCLUDED],
        )
        for arm in plan.arms
    )


def _running(sweep: SweepId, settings: Settings) -> int | None:
    if settings.redis_url is None:
        return None
    try:
        return len(bootstrap.connect(settings.redis_url).leases.live(sweep))
    except TransientError:
        return None


def standing(store: Store, sweep: SweepId, settings: Settings) -> Standing:
    """Read from the store how far a sweep is, and from Redis, when there is one, what runs now."""
    plan = bootstrap.known_sweep(store, sweep)
    stage, reason = _stage(store, sweep)
    running = _running(sweep, settings) if stage != "sealed" else 0
    return Standing(sweep, stage, reason, _arms(store, sweep, plan), running)


def _lines(found: Standing, store: Store) -> list[str]:
    running = "unknown (set FARM_REDIS_URL)" if found.running is None else str(found.running)
    reason = f" ({found.reason})" if found.reason else ""
    lines = [f"{found.sweep}: {found.stage}{reason}, {found.done}/{found.planned} done, running: {running}"]
    lines += [
        f"  {arm.arm:<24} {arm.measured + arm.excluded}/{arm.planned} done, {arm.excluded} failed" for arm in found.arms
    ]
    if found.stage == "sealed":
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
    found = [standing(place, each, settings) for each in chosen]
    lines = [line for each in found for line in _lines(each, place)] or [f"{place.url} holds no sweep"]
    answer({"store": place.url, "sweeps": [_document(each) for each in found]}, lines, as_json=as_json)
