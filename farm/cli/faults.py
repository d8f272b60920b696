"""farm faults."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
import yaml
from pydantic import JsonValue

from farm import bootstrap, drafting
from farm.cli.codes import INTERRUPTED
from farm.cli.common import answer, json_option
from farm.cli.drive import open_sweep
from farm.cli.finishing import finish
from farm.cli.interrupts import Interrupts
from farm.cli.local import LocalRun, work_off
from farm.coordinator.loop import EndKind
from farm.errors import SpecError
from farm.finalizer.exit_code import FAILED
from farm.finalizer.finalize import Finalized
from farm.model import SweepId
from farm.planning.faults import PROVIDER, TRIALS, script
from farm.reporting.mechanism import (
    JSON_NAME,
    MARKDOWN_NAME,
    MatrixReport,
    check_line,
    differences,
    matrix_report,
    outcome,
)

_MARKS = {True: "ok", False: "FAIL", None: "?"}
_MOST_SHOWN = 60


@click.command(name="faults", epilog="Example:  farm faults --check")
@click.option("--trials", type=click.IntRange(1, 100), default=TRIALS, show_default=True, help="Of each in each arm.")
@click.option("--only", multiple=True, metavar="FAULT", help="Not all nine faults, but this one. May be repeated.")
@click.option("--slots", type=click.IntRange(min=1), help="Cells to run at once. Default: FARM_SLOTS, else the CPUs.")
@click.option("--check", is_flag=True, help="Fail unless the report is the one that was checked in.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write report.json and report.md to this folder.")
@click.option("--keep", type=click.Path(path_type=Path), help="Leave store, script and logs in this folder, a new one.")
@json_option
@click.pass_context
def command(  # noqa: PLR0913 (the options of a verb)
    ctx: click.Context,
    *,
    trials: int,
    only: tuple[str, ...],
    slots: int | None,
    check: bool,
    output: Path | None,
    keep: Path | None,
    as_json: bool,
) -> None:
    """Run nine faults of a scripted agent with and without a governor, and judge what came of them.

    180 cells go through the whole farm on this machine, in its own Redis and store. No model is asked and no key is
    needed. Ends with 1 where one of the five gates fails.
    """
    if check and (only or trials != TRIALS):
        raise SpecError("--check is of the whole matrix; drop --only and --trials")
    with _folder(keep) as place:
        done = _ran(Matrix(place, trials, only, slots, as_json))
    if done is None:
        ctx.exit(INTERRUPTED)
    (verdict,) = done.report.verdicts
    report = matrix_report(verdict)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        (output / JSON_NAME).write_text(report.json_text, encoding="utf-8")
        (output / MARKDOWN_NAME).write_text(report.markdown, encoding="utf-8")
    differing = differences(report) if check else []
    document: dict[str, JsonValue] = {**report.model_dump(mode="json"), "differences": [*differing]}
    answer(document, [*_lines(report), *_differing(differing)], as_json=as_json)
    ctx.exit(done.exit_code or (FAILED if differing else 0))


@dataclass(frozen=True, slots=True)
class Matrix:
    """What is run, and where its files are."""

    place: Path
    trials: int
    only: tuple[str, ...]
    slots: int | None
    as_json: bool

    def write_sweep(self) -> Path:
        """Write the sweep file."""
        sweep = self.place / "sweep.yaml"
        preset: dict[str, JsonValue] = {"kind": "faults", "only": [*self.only]}
        sweep.write_text(yaml.safe_dump({"name": "faults", "trials": self.trials, "preset": preset}), encoding="utf-8")
        return sweep

    def write_script(self) -> Path:
        """Write the provider's script."""
        file = self.place / "script.yaml"
        file.write_text(yaml.safe_dump(script(), allow_unicode=True, sort_keys=False), encoding="utf-8")
        return file


def _ran(matrix: Matrix) -> Finalized | None:
    """Plan, run and judge; None when a person did not wait for it."""
    settings = bootstrap.read_settings().model_copy(update={"redis_url": None, "broker_url": None})
    store = bootstrap.open_store(str(matrix.place / "store"), settings)
    draft = drafting.draft_plan(matrix.write_sweep())

    def opened() -> SweepId:
        return open_sweep(draft.deliver(store), None, None, store.records)

    with bootstrap.scripted_provider(matrix.write_script()) as url:
        providers = matrix.place / "providers.yaml"
        providers.write_text(json.dumps({PROVIDER: {"wires": ["anthropic"], "url": url}}), encoding="utf-8")
        run = LocalRun(
            draft.plan,
            opened,
            store,
            settings,
            matrix.slots,
            matrix.as_json,
            worker_env={"FARM_PROVIDERS": str(providers)},
            log_folder=matrix.place,
        )
        with Interrupts() as interrupts, bootstrap.own_or_embedded_exchange(settings) as exchange:
            worked = work_off(run, exchange, interrupts)
            if worked is None or worked.end.kind is not EndKind.CLOSED:
                return None
            return finish(worked.drive.sweep, store, exchange)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """Give a folder that ends with the block, or the one that is to be kept."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="farm-faults-") as scratch:
            yield Path(scratch)
        return
    if keep.exists() and any(keep.iterdir()):
        raise SpecError(f"{keep} is not empty; name a new folder")
    keep.mkdir(parents=True, exist_ok=True)
    yield keep.absolute()


def _lines(report: MatrixReport) -> Iterator[str]:
    width = max(map(len, report.faults))
    for name, fault in report.faults.items():
        yield f"{name:<{width}}  {outcome(fault.baseline):<27}  {outcome(fault.governed)}"
    for check in report.checks:
        yield f"{_MARKS[check.holds]:<5} {check_line(check)}"
    for cell, why in report.unexpected.items():
        yield f"odd   {cell}: {'; '.join(why)}"
    yield f"{report.decision.upper()}: {report.summary}"


def _differing(lines: list[str]) -> Iterator[str]:
    if not lines:
        return
    yield "The report is not the one that was checked in:"
    yield from lines[:_MOST_SHOWN]
    if len(lines) > _MOST_SHOWN:
        yield f"and {len(lines) - _MOST_SHOWN} more lines"
