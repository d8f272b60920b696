"""What a report says of cells that were measured in earlier sweeps: they cost nothing here, and are in no sum."""

from collections import Counter
from decimal import Decimal

from farm.reporting.report_input import ReportInput


def taken_over_notes(source: ReportInput) -> list[str]:
    """Say how many cells were taken over, from where, and what they had cost."""
    rows = {row.cell: row for row in source.table.rows if row.reused}
    if not rows:
        return []
    origins = [origin for cell, origin in source.plan.reused.items() if cell in rows]
    places = Counter(origin.sweep for origin in origins)
    named = ", ".join(f"{count} from {sweep}" for sweep, count in sorted(places.items()))
    cost = sum((row.cost_usd or Decimal(0) for row in rows.values()), Decimal(0))
    unknown = sum(row.cost_usd is None for row in rows.values())
    rest = f", and {unknown} had cost what nobody knows" if unknown else ""
    oldest = min(origin.measured_at for origin in origins).date()
    return [
        (
            f"{len(rows)} of {len(source.table.rows)} cells were measured before, the first on {oldest}, "
            f"and taken over ({named}). They had cost ${cost:.2f}{rest}; that was not spent again and is in no sum."
        )
    ]
