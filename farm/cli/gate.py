"""farm gate."""

from collections.abc import Iterator

import click
from pydantic import JsonValue

from farm import bootstrap
from farm.cli.common import answer, json_option, store_option
from farm.cli.finishing import load_gate
from farm.errors import SpecError
from farm.finalizer.exit_code import FAILED, INCONCLUSIVE, PASSED
from farm.finalizer.judging import judge_again
from farm.model import Check, Decision, SweepId, Verdict
from farm.reporting.text import one_line

_CODES = {Decision.PASS: PASSED, Decision.FAIL: FAILED, Decision.INCONCLUSIVE: INCONCLUSIVE}
_MARKS = {True: "ok", False: "FAIL", None: "?"}


@click.command(name="gate", epilog="Example:  farm gate quickstart-3f9a1c2b4d5e.1 --json")
@click.argument("sweep", type=SweepId)
@store_option
@json_option
@click.pass_context
def command(ctx: click.Context, sweep: SweepId, *, store: str | None, as_json: bool) -> None:
    """Judge a settled sweep again from the store alone, by the plan's own gates; nothing is written.

    Ends with 0 where every gate passes, 1 where one fails, else 5; with 4 where a verdict that stands is another one.
    """
    place = bootstrap.open_store(store, bootstrap.read_settings())
    plan = bootstrap.known_sweep(place, sweep)
    if not plan.gates:
        raise SpecError(f"{sweep} has no gate; name one under `gates:` in its sweep file, and run that sweep")
    verdicts = judge_again(sweep, load_gate, place.records)
    code = max((_CODES[verdict.decision] for verdict in verdicts), key=(PASSED, INCONCLUSIVE, FAILED).index)
    document: dict[str, JsonValue] = {
        "sweep": sweep,
        "exit_code": code,
        "verdicts": [verdict.model_dump(mode="json") for verdict in verdicts],
    }
    answer(document, (line for verdict in verdicts for line in _lines(verdict)), as_json=as_json)
    ctx.exit(code)


def _lines(verdict: Verdict) -> Iterator[str]:
    gate = f"{verdict.gate.name} {verdict.gate.version}"
    yield f"{verdict.decision.upper():<13} {gate}: {one_line(verdict.summary)}"
    for check in verdict.checks:
        yield f"  {_mark(check):<5} {check.name} of {check.subject}: {_told(check.observed)} {check.operator} " + (
            f"{_told(check.threshold)}" + (f" ({one_line(check.note)})" if check.note else "")
        )


def _mark(check: Check) -> str:
    return _MARKS[check.holds] if check.decides else "-"


def _told(value: JsonValue) -> str:
    match value:
        case None:
            return "unknown"
        case bool():
            return str(value).lower()
        case float():
            return f"{value:.4g}"
        case _:
            return one_line(str(value))
