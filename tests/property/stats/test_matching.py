"""Matchings by several criteria against every matching that there is, and against scipy's own maximum."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from farm.stats.matching import Edge, Pair, best_matching

_COST = st.integers(-3, 3)


@st.composite
def graphs(draw: st.DrawFn, most: int) -> tuple[int, int, list[Edge]]:
    lefts, rights = draw(st.integers(1, most)), draw(st.integers(1, most))
    taken = draw(st.sets(st.tuples(st.integers(0, lefts - 1), st.integers(0, rights - 1)), max_size=most * 3))
    return lefts, rights, [Edge(left, right, draw(st.tuples(_COST, _COST, _COST))) for left, right in sorted(taken)]


def every_matching(edges: Sequence[Edge]) -> Iterator[tuple[Edge, ...]]:
    if not edges:
        yield ()
        return
    first, rest = edges[0], edges[1:]
    yield from every_matching(rest)
    free = [edge for edge in rest if edge.left != first.left and edge.right != first.right]
    yield from ((first, *others) for others in every_matching(free))


def total(edges: Sequence[Edge]) -> tuple[int, ...]:
    return tuple(sum(edge.costs[place] for edge in edges) for place in range(3))


@given(graphs(most=4))
def test_no_matching_is_better_in_the_order_of_the_criteria(graph: tuple[int, int, list[Edge]]) -> None:
    lefts, rights, edges = graph

    pairs = best_matching(lefts, rights, edges)

    by_place = {Pair(edge.left, edge.right): edge for edge in edges}
    assert total([by_place[pair] for pair in pairs]) == min(map(total, every_matching(edges)))
    assert len({pair.left for pair in pairs}) == len({pair.right for pair in pairs}) == len(pairs)


@given(graphs(most=30))
def test_a_gain_of_one_for_each_pair_gives_as_many_pairs_as_can_be(graph: tuple[int, int, list[Edge]]) -> None:
    lefts, rights, edges = graph
    counted = [Edge(edge.left, edge.right, (-1, *edge.costs)) for edge in edges]
    matrix = np.zeros((lefts, rights), dtype=np.int8)
    for edge in edges:
        matrix[edge.left, edge.right] = 1

    pairs = best_matching(lefts, rights, counted)

    assert len(pairs) == (maximum_bipartite_matching(csr_array(matrix)) >= 0).sum()


def test_costs_beyond_the_bound_count_as_the_bound_and_never_as_something_else() -> None:
    edges = [Edge(0, 0, (10**30,)), Edge(0, 1, (-(10**30),)), Edge(1, 0, (-1,))]

    assert best_matching(2, 2, edges) == (Pair(0, 1), Pair(1, 0))


def test_more_places_than_the_bound_are_refused() -> None:
    with pytest.raises(ValueError, match="101 with 1 places"):
        best_matching(101, 1, [])
