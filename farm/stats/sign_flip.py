"""The exact test on tasks: were the arms the same, each task's difference could as well have had the other sign."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

_MOST_ENUMERATED = 20
_MOST_SUM = 1_000_000
_FINEST = 10**9
_LARGEST = 2**60
"""Sums of so much stay in 64 bits."""
_DRAWS = 200_000
_DRAWS_AT_ONCE = 10_000


class Method(StrEnum):
    """How the sign assignments were gone through."""

    EXACT = "exact"
    DRAWN = "drawn"
    """At random: see `SignFlip.standard_error`."""


@dataclass(frozen=True, slots=True)
class SignFlip:
    """How many sign assignments are as extreme as what was seen."""

    tasks: int
    nonzero: int
    assignments: int
    """2 to the power of `nonzero`, or how many were drawn."""
    extreme: int
    p_value: float
    method: Method
    standard_error: float
    """Of `p_value`; 0 when it is exact."""


def sign_flip(differences: Sequence[Fraction | int], seed: int = 0) -> SignFlip:
    """Test whether two arms do equally well, task by task, in both directions at once.

    `differences` holds one number a task: the mean, or the sum, over its trials of left minus right. They are taken in
    units of their smallest common denominator, so that ties are ties; of 1e-9 where that is finer, and of what keeps
    their sum below 2**60 where they are larger. Hypothesis: each task's difference is as likely
    with either sign. Statistic: their sum, so the tasks weigh the same. Denominator: all tasks; those without a
    difference change no sum and need no enumeration. Variant: the randomisation test of Fisher (1935, The Design of
    Experiments, section 21) over all sign assignments, those that tie with what was seen counting as extreme. Exact
    up to 20 tasks that differ, and beyond them while the absolute differences sum up to at most 1,000,000 (by counting
    the assignments of each sum). Above both, 200,000 assignments are drawn by PCG64 from `seed`, what was seen counts
    as one of them (Phipson and Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9, 39), and the standard error is told.
    """
    whole = _whole(differences)
    sizes = np.array([abs(one) for one in whole if one != 0], dtype=np.int64)
    seen, count = abs(sum(whole)), len(sizes)
    if count <= _MOST_ENUMERATED:
        extreme = _enumerated(sizes, seen)
    elif sizes.sum() <= _MOST_SUM:
        extreme = _counted(sizes, seen)
    else:
        return _drawn(sizes, seen, len(differences), seed)
    assignments = 2**count
    return SignFlip(len(differences), count, assignments, extreme, extreme / assignments, Method.EXACT, 0.0)


def _whole(differences: Sequence[Fraction | int]) -> list[int]:
    exact = [Fraction(one) for one in differences]
    common = min(math.lcm(*(one.denominator for one in exact)), _FINEST)
    total = sum(abs(one) for one in exact) * common
    unit = common if total <= _LARGEST else Fraction(_LARGEST * common) / total
    return [round(one * unit) for one in exact]


def _enumerated(sizes: NDArray[np.int64], seen: int) -> int:
    """Count the assignments whose sum is extreme: each sum of one half meets those of the other that take it there."""
    if seen == 0:
        return 1 << len(sizes)
    half = len(sizes) // 2
    others = np.sort(_all_sums(sizes[half:]))
    above: int = (len(others) - np.searchsorted(others, seen - _all_sums(sizes[:half]))).sum().item()
    return 2 * above  # with every sign turned, as many lie below


def _all_sums(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    sums = np.zeros(1, dtype=np.int64)
    for size in sizes:
        sums = np.concatenate((sums - size, sums + size))
    return sums


def _counted(sizes: NDArray[np.int64], seen: int) -> int:
    """Count the assignments whose sum is extreme, by how many give each sum.

    The counts stand side by side in one whole number, `width` bits for each sum of those with a plus, so that taking
    another task in is one shift and one addition.
    """
    if seen == 0:
        return 1 << len(sizes)
    whole: list[int] = sizes.tolist()
    width, ways = len(whole) + 1, 1
    for size in whole:
        ways += ways << (width * size)
    most = (sum(whole) - seen) // 2
    low = ways & ((1 << width * (most + 1)) - 1)
    return 2 * (low % ((1 << width) - 1))  # the sum of its counts, which is below 2**len; as many lie above


def _drawn(sizes: NDArray[np.int64], seen: int, tasks: int, seed: int) -> SignFlip:
    generator, extreme = np.random.default_rng(seed), 1
    for _ in range(_DRAWS // _DRAWS_AT_ONCE):
        signs = generator.integers(0, 2, size=(_DRAWS_AT_ONCE, len(sizes))) * 2 - 1
        extreme += int((np.abs(signs @ sizes) >= seen).sum())
    p_value = extreme / (_DRAWS + 1)
    error = math.sqrt(p_value * (1 - p_value) / (_DRAWS + 1))
    return SignFlip(tasks, len(sizes), _DRAWS + 1, extreme, p_value, Method.DRAWN, error)
