"""What a report says of a sweep that did not run the whole of its file, so that nobody takes it for one that did."""

from typing import assert_never

from farm.model import CloseReason
from farm.reporting.report_input import ReportInput


def ending_warnings(source: ReportInput) -> list[str]:
    """Say first how the sweep was cut short, then what of its file was left out."""
    found = []
    how = _how(source.close.reason)
    if how is not None:
        lacking = sum(row.unsettled is not None for row in source.table.rows)
        found.append(
            f"The sweep {how}, {lacking} of {len(source.table.rows)} cells have no result: it authorises nothing."
        )
    known = source.plan.preregistration
    if known is not None and known.pilot is not None:
        found.append(f"A pilot, {known.pilot.words}: no gate passes in it; one may fail, or find harm.")
    if source.plan.skipped:
        found.append(f"Skipped, since expensive and not asked for: {', '.join(source.plan.skipped)}.")
    return found


def _how(reason: CloseReason) -> str | None:
    """Say in words what ended a sweep; None: it ran to its end."""
    match reason:
        case CloseReason.COMPLETE:
            return None
        case CloseReason.BREAKER:
            return "was aborted by the breaker"
        case CloseReason.CANCELLED:
            return "was cancelled"
        case CloseReason.DEADLINE:
            return "reached its deadline"
        case CloseReason.BUG:
            return "was stopped by a bug of the farm's"
        case CloseReason.UNFINISHED:
            return "was finalized before its end"
        case _:
            assert_never(reason)
