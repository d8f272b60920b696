"""Each task under each arm in the workflow benchmark's names, as its promotion gate sees it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from farm.gates.promotion.aggregate import aggregate
from farm.reporting.rows.case import Case
from farm.reporting.rows.evidence import told


def aggregates_of(cases: Iterable[Case]) -> Iterator[dict[str, JsonValue]]:
    """Put the cells together, in the order in which their tasks and arms first come."""
    together = defaultdict[tuple[str, str], list[Case]](list)
    for case in cases:
        together[case.cell.task, case.cell.arm].append(case)
    for (task, arm), of in together.items():
        missing = sum(told(case).transcript_missing is True for case in of)
        found = aggregate([case.row for case in of], of[0].task, missing)
        yield {"task": task, "arm": arm, **found.model_dump(mode="json", by_alias=True)}
