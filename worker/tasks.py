"""What a worker does with a ticket; the one place in the worker where any exception is caught."""

import structlog

from farm.errors import FarmError
from farm.model import Refusal, Ticket
from worker.cell.line import CellLine
from worker.cell.recording import LineEnd

_log = structlog.get_logger()


def carry(line: CellLine, ticket: Ticket) -> LineEnd:
    """Carry a ticket through the line. A bug of ours becomes the attempt's outcome, so that the sweep hears of it."""
    try:
        claimed = line.claim(ticket)
    except (FarmError, OSError) as error:  # nothing was taken: the ticket comes again
        _log.warning("claim.failed", sweep=ticket.sweep, cell=ticket.cell, problem=str(error))
        return LineEnd.REFUSED
    if isinstance(claimed, Refusal):
        _log.info("claim.refused", sweep=ticket.sweep, cell=ticket.cell, attempt=ticket.attempt, reason=claimed)
        return LineEnd.REFUSED
    try:
        return line.work(claimed)
    except Exception as bug:  # noqa: BLE001 (the one place: what nobody can answer is recorded, never swallowed)
        _log.exception("attempt.broken", sweep=ticket.sweep, cell=ticket.cell, attempt=ticket.attempt)
        return line.record_bug(claimed, bug)
