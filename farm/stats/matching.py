"""Pairs from two lists, best by several criteria in order: exact, and the same for the same input on any machine."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

_MOST_COST = 2**40
"""With at most 200 rows every sum below stays under 2**53, where doubles count exactly."""
_MOST_EACH = 100

_Costs = NDArray[np.int64]
_Allowed = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Edge:
    """A pair that may be taken, and what taking it costs by each criterion; a gain is a negative cost."""

    left: int
    right: int
    costs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """One taken pair, by places in the two lists."""

    left: int
    right: int


def best_matching(lefts: int, rights: int, edges: Sequence[Edge]) -> tuple[Pair, ...]:
    """Take pairs, each place at most once, so that the sum of the first costs is smallest, then of the second, ….

    Variant: for each criterion in turn `scipy.optimize.linear_sum_assignment` over the pairs that are still open,
    where staying alone costs nothing; potentials of its optimum (shortest paths, Bellman-Ford) then close each pair
    that is in no optimum. So every later criterion chooses among exactly the optima of those before it. A criterion of
    -1 for each pair gives a matching of maximum cardinality. Costs are whole numbers; beyond 2**40 either way they
    count as 2**40. At most 100 places a side; raises ValueError for more, and for edges that differ in their number
    of costs. The pairs come in order of `left`.
    """
    if max(lefts, rights) > _MOST_EACH:
        raise ValueError(f"a matching of {lefts} with {rights} places is more than {_MOST_EACH} a side")
    if not edges:
        return ()
    criteria = len(edges[0].costs)
    if any(len(edge.costs) != criteria for edge in edges):
        raise ValueError("the edges of a matching differ in their number of costs")
    allowed, chosen = _alone(lefts, rights), np.arange(lefts + rights)
    for edge in edges:
        allowed[edge.left, edge.right] = True
    for criterion in range(criteria):
        costs = np.zeros(allowed.shape, dtype=np.int64)
        for edge in edges:
            costs[edge.left, edge.right] = max(-_MOST_COST, min(_MOST_COST, edge.costs[criterion]))
        chosen = linear_sum_assignment(np.where(allowed, costs, np.inf))[1]
        allowed = _optimal(allowed, costs, chosen)
    return tuple(Pair(left, int(chosen[left])) for left in range(lefts) if chosen[left] < rights)


def _alone(lefts: int, rights: int) -> _Allowed:
    """Allow everybody a partner who stands for nobody: a column beyond `rights`, a row beyond `lefts`."""
    allowed = np.ones((lefts + rights, lefts + rights), dtype=np.bool_)
    allowed[:lefts, :rights] = False
    return allowed


def _optimal(allowed: _Allowed, costs: _Costs, chosen: NDArray[np.intp]) -> _Allowed:
    """Keep the pairs that some optimum holds: those without reduced cost, by potentials that fit the one `chosen`."""
    own = costs[np.arange(len(chosen)), chosen]
    change = costs - own[:, np.newaxis]
    potential = np.zeros(len(chosen), dtype=np.int64)
    forbidden = np.iinfo(np.int64).max // 2
    while True:
        reached = np.where(allowed, potential[chosen][:, np.newaxis] + change, forbidden).min(axis=0)
        if (reached >= potential).all():
            break
        potential = np.minimum(potential, reached)
    slack: _Costs = potential[chosen][:, np.newaxis] + change - potential[np.newaxis, :]
    tight: _Allowed = slack == 0
    return allowed & tight
