"""Numbers over many durations."""


def mean(values):
    """Average; raise ValueError for no values."""
    if not values:
        raise ValueError("no values to average")
    return sum(values) / len(values)


def percentile(values, share):
    """Give the nearest-rank percentile: the smallest value that at least `share` percent of the values do not exceed.

    `share` is a whole number from 1 to 100; raises ValueError for another one, and for no values.
    """
    if not values:
        raise ValueError("no values to rank")
    if not 1 <= share <= 100:
        raise ValueError(f"share must be from 1 to 100, not {share}")
    ordered = sorted(values)
    rank = int(len(ordered) * share / 100)
    return ordered[min(rank, len(ordered) - 1)]
