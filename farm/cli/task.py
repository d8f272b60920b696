"""farm task."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from farm import bootstrap, drafting
from farm.cli.codes import INTERRUPTED
from farm.cli.common import answer, json_option
from farm.cli.drive import open_sweep
from farm.cli.interrupts import Interrupts
from farm.cli.local import LocalRun, work_off
from farm.coordinator.loop import CoordinatorEnd, EndKind
from farm.errors import FarmError, SpecError, TransientError
from farm.model import Cell, CloseReason, Outcome, Plan, Result, SweepId, parse_record
from farm.model.keys import outcome_key, result_key
from farm.planning.proofs import is_of_nothing
from farm.ports import Store, read_required
from farm.reporting.proofs import Proof, proof_of
from farm.reporting.text import one_line

_UNKNOWN = "-"
_MOST_LINES = 12
_FINDING = "FARM-FINDING "
"""How the line begins in which a check reports: its words are among the problems."""


@click.group(name="task", epilog="Example:  farm task check sweep.yaml")
def command() -> None:
    """Look at a sweep's tasks before a session is paid for."""


@command.command(name="check", epilog="Example:  farm task check sweep.yaml fix-median")
@click.argument("sweep_file", type=click.Path(path_type=Path))
@click.argument("tasks", nargs=-1)
@click.option(
    "--slots",
    type=click.IntRange(min=1),
    help="Cells to run at once. Default: FARM_SLOTS, else the CPUs.",
)
@json_option
@click.pass_context
def check(ctx: click.Context, sweep_file: Path, tasks: tuple[str, ...], *, slots: int | None, as_json: bool) -> None:
    """Prove tasks in the real sandbox, twice each: doing nothing is wrong, the reference solution is right.

    All tasks of the sweep file, or those named. No agent is asked, nothing is kept; exit 2 when a task must be changed.
    """
    settings = bootstrap.read_settings().model_copy(update={"redis_url": None, "broker_url": None})
    with TemporaryDirectory(prefix="farm-check-") as scratch:
        draft = drafting.draft_proofs(sweep_file, tasks)
        place = bootstrap.open_store(scratch, settings)

        def opened() -> SweepId:
            return open_sweep(draft.deliver(place), None, None, place.records)

        run = LocalRun(draft.plan, opened, place, settings, slots, as_json)
        with Interrupts() as interrupts, bootstrap.own_or_embedded_exchange(settings) as exchange:
            worked = work_off(run, exchange, interrupts)
        if worked is None or worked.end.kind is EndKind.INTERRUPTED:
            ctx.exit(INTERRUPTED)
        _ensure_complete(worked.end)
        proofs = list(_proofs(worked.drive.sweep, draft.plan, place))
    _tell(proofs, as_json=as_json)


def _ensure_complete(end: CoordinatorEnd) -> None:
    if end.close is None:
        raise TransientError("the cells of the check wait for a time window of this host; try again in one")
    if end.close.reason is not CloseReason.COMPLETE:
        raise FarmError(f"the check ended before its end ({end.close.reason}): {end.close.detail}")


def _proofs(sweep: SweepId, plan: Plan, store: Store) -> Iterator[Proof]:
    for task in plan.tasks:
        cells = [cell for cell in plan.cells if cell.task == task.id]
        nothing = [_outcome(sweep, cell, store) for cell in cells if is_of_nothing(cell.arm)]
        reference = [_outcome(sweep, cell, store) for cell in cells if not is_of_nothing(cell.arm)]
        proof = proof_of(task, nothing, reference)
        unmet = [one for one in reference if one.evidence is not None and one.evidence.oracle.correct is not True]
        yield replace(proof, output=_last_lines(unmet[0], store)) if unmet else proof


def _outcome(sweep: SweepId, cell: Cell, store: Store) -> Outcome:
    key = result_key(sweep, cell.id)
    result = parse_record(Result, read_required(store.records, key), key)
    key = outcome_key(sweep, cell.id, result.attempt)
    return parse_record(Outcome, read_required(store.records, key), key)


def _last_lines(outcome: Outcome, store: Store) -> str:
    """Give the end of what the outcome's hidden check wrote, beside its finding: to stderr, or else to stdout."""
    found = {artifact.role: artifact.digest for artifact in outcome.artifacts}
    said = (store.blobs.get(found[role]) for role in ("oracle.stderr", "oracle.stdout") if role in found)
    written = next(said, b"").decode(errors="replace").strip().splitlines()
    lines = [line for line in written if not line.startswith(_FINDING)]
    return "\n".join(one_line(line) for line in lines[-_MOST_LINES:])


def _tell(proofs: list[Proof], *, as_json: bool) -> None:
    """Print what was proven; raise SpecError when something was not."""
    broken = [proof.task for proof in proofs if proof.problems]
    answer({"ok": not broken, "tasks": [asdict(proof) for proof in proofs]}, _lines(proofs), as_json=as_json)
    if broken:
        raise SpecError(f"{len(broken)} of {len(proofs)} tasks are not proven: {', '.join(broken)}")


def _lines(proofs: list[Proof]) -> Iterator[str]:
    head = ("", "task", "nothing", "reference", "cell", "verify", "oracle")
    rows = [head, *(_row(proof) for proof in proofs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
    for proof in proofs:
        yield from (f"{proof.task}: {problem}" for problem in proof.problems)
        yield from (f"{proof.task} | {line}" for line in proof.output.splitlines())


def _row(proof: Proof) -> tuple[str, ...]:
    times = proof.times
    said = (", ".join(proof.nothing), ", ".join(proof.reference) or _UNKNOWN)
    took = (_UNKNOWN if one is None else f"{one:.1f} s" for one in (times.cell_s, times.verify_s, times.oracle_s))
    return ("FAIL" if proof.problems else "ok", proof.task, *said, *took)
