"""Finalizing from a terminal, and saying what came of a sweep."""

import click
from pydantic import JsonValue

from farm import bootstrap
from farm.bootstrap import Exchange
from farm.cli.common import answer, place_of
from farm.finalizer.finalize import Finalized, finalize
from farm.finalizer.ports import FinalizerPorts
from farm.gates.protocol import Gate
from farm.model import SweepId
from farm.model.keys import REPORT_PAGE, report_key
from farm.ports import Store
from farm.reporting.build import build
from farm.reporting.render import render
from farm.reporting.summary import summary_lines


def load_gate(name: str) -> Gate:
    """Give an installed gate by name; raise SpecError when there is none."""
    gate: Gate = bootstrap.plugins().load("gates", name)()
    return gate


def finish(sweep: SweepId, store: Store, exchange: Exchange) -> Finalized:
    """Close, settle, clean up, judge, report, seal; a sealed sweep is read back."""
    ports = FinalizerPorts(
        records=store.records,
        leases=exchange.leases,
        signals=exchange.signals,
        events=exchange.events,
        clock=bootstrap.clock(),
    )
    return finalize(sweep, ports, load_gate, render)


def conclude(ctx: click.Context, sweep: SweepId, store: Store, done: Finalized, *, as_json: bool) -> None:
    """Print the verdict, the arms and where the report is; end with the sweep's exit code."""
    report = build(done.report)
    page = place_of(store, report_key(sweep, REPORT_PAGE))
    document: dict[str, JsonValue] = {
        "sweep": sweep,
        "exit_code": done.exit_code,
        "close": done.report.close.reason.value,
        "verdicts": [verdict.model_dump(mode="json") for verdict in done.report.verdicts],
        "arms": [arm.model_dump(mode="json") for arm in report.arms],
        "seal": str(done.seal),
        "report": page,
    }
    lines = [*summary_lines(report), f"sweep   {sweep} ({done.report.close.reason.value})", f"report  {page}"]
    answer(document, lines, as_json=as_json)
    ctx.exit(done.exit_code)
