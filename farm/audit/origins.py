"""What a sweep took over from earlier ones: each outcome is what its plan pins, and says what was measured."""

from collections.abc import Mapping

from farm.audit.cells import WalkedCell
from farm.audit.findings import Notebook
from farm.errors import IntegrityError
from farm.model import CellId, Outcome, Plan, SweepId, parse_record, taken_over
from farm.model.keys import blob_key, outcome_key
from farm.ports import BlobStore


def check_origins(
    sweep: SweepId, plan: Plan, cells: Mapping[CellId, WalkedCell], blobs: BlobStore, notebook: Notebook
) -> None:
    """Compare each counted outcome's origin with the plan's, and make anew those that were taken over."""
    for cell, walked in cells.items():
        outcome, pinned = walked.counted, plan.reused.get(cell)
        if outcome is None:
            continue
        key = outcome_key(sweep, cell, outcome.attempt)
        if outcome.origin != pinned:
            notebook.flaw(key, "it was measured elsewhere than the plan says")
        elif pinned is not None:
            _compare(key, outcome, blobs, notebook)


def _compare(key: str, outcome: Outcome, blobs: BlobStore, notebook: Notebook) -> None:
    origin = outcome.origin
    if origin is None:
        return
    try:
        original = parse_record(Outcome, blobs.get(origin.outcome), blob_key(origin.outcome))
    except IntegrityError:
        return  # the walk over the blobs says so
    said = (original.sweep, original.cell, original.attempt, original.ended_at)
    if said != (origin.sweep, outcome.cell, origin.attempt, origin.measured_at):
        notebook.flaw(key, f"its origin is of {original.cell} of {original.sweep}, measured at {original.ended_at}")
    elif taken_over(original, origin, outcome.sweep, outcome.plan) != outcome:
        notebook.flaw(key, f"it is not what {origin.sweep} measured")
