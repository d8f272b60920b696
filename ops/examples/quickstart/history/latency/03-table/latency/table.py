"""One row for each endpoint."""

from collections import defaultdict
from dataclasses import dataclass

from latency.summary import percentile


@dataclass(frozen=True)
class Row:
    """How long an endpoint took, in milliseconds."""

    endpoint: str
    count: int
    median: int
    p95: int
    worst: int


def rows(requests):
    """Group requests by method and path; the slowest median comes first."""
    durations = defaultdict(list)
    for request in requests:
        durations[f"{request.method} {request.path}"].append(request.milliseconds)
    table = [
        Row(endpoint, len(values), percentile(values, 50), percentile(values, 95), max(values))
        for endpoint, values in durations.items()
    ]
    return sorted(table, key=lambda row: (-row.median, row.endpoint))
