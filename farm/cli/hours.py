"""Saying when a sweep's cells may run."""

from datetime import datetime

from farm.model import Plan
from farm.model.time_window import calendars, left_s, next_opening


def moment(instant: datetime) -> str:
    """Say an instant in UTC."""
    return f"{instant:%Y-%m-%d %H:%M} UTC"


def hours_line(plan: Plan, now: datetime) -> str | None:
    """Say that an open sweep is outside its time windows, and until when; None: it is not."""
    windows = calendars(plan.windows)
    if left_s(windows, now) != 0:
        return None
    opening = next_opening(windows, now)
    return "outside its time windows; " + (
        "none is to come" if opening is None else f"the next opens at {moment(opening)}"
    )
