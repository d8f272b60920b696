"""Several tests at once."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust p-values so that the chance of any false rejection stays below the level they are held against.

    The result keeps the order of `p_values`. Variant: the step-down method of Holm (1979, Scand. J. Stat. 6, 65-70);
    it needs no independence. Raises ValueError for a number that is no p-value.
    """
    wrong = next((p for p in p_values if not 0 <= p <= 1), None)
    if wrong is not None:
        raise ValueError(f"{wrong} is no p-value")
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return tuple(adjusted)
