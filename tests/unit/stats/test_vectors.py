"""The reliability benchmark's statistics, number by number."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farm.stats.bootstrap import Mulberry32, cluster_bootstrap
from farm.stats.mcnemar import mcnemar
from farm.stats.power import Design, Difficulty, chance_of
from farm.stats.proportion import wilson
from farm.stats.sign_flip import sign_flip

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "data/statistics-vectors.json").read_text())


def of_kind(kind: str) -> Callable[[Any], Any]:
    chosen = [vector for vector in VECTORS if vector["kind"] == kind]
    assert chosen
    cases = [(vector["input"], vector["expected"]) for vector in chosen]
    return pytest.mark.parametrize(("given", "expected"), cases, ids=[vector["id"] for vector in chosen])


@of_kind("wilson95")
def test_wilson_interval(given: dict[str, Any], expected: dict[str, float]) -> None:
    found = wilson(given["successes"], given["total"])
    bounds = (0.0, 1.0) if found is None else (found.low, found.high)
    assert bounds == pytest.approx((expected["lower"], expected["upper"]), abs=1e-9)


@of_kind("mcnemar_exact_two_sided")
def test_mcnemar(given: dict[str, int], expected: dict[str, float]) -> None:
    found = mcnemar(given["leftOnly"], given["rightOnly"])
    assert found.left_only + found.right_only == expected["discordantPairs"]
    assert found.p_value == pytest.approx(expected["twoSidedPValue"], abs=1e-9)


@of_kind("task_sign_flip_exact")
def test_sign_flip(given: dict[str, Any], expected: dict[str, float]) -> None:
    trials = given["perTaskTrials"]
    found = sign_flip([Fraction(round(one * trials), trials) for one in given["taskDifferences"]])
    assert (found.tasks, found.nonzero) == (expected["taskCount"], expected["nonzeroTaskCount"])
    if found.nonzero:
        assert (found.assignments, found.extreme) == (expected["assignmentsEnumerated"], expected["asOrMoreExtreme"])
    assert found.p_value == pytest.approx(expected["twoSidedPValue"], abs=1e-12)


@of_kind("prng_mulberry32")
def test_the_generator(given: dict[str, int], expected: dict[str, list[float]]) -> None:
    generator = Mulberry32(given["seed"])
    half = given["draws"] // 2
    drawn = [*generator.uniform(half), *generator.uniform(given["draws"] - half)]
    assert drawn == pytest.approx(expected["values"], abs=1e-15)


@of_kind("quantile_linear")
def test_the_percentile_rule(given: dict[str, Any], expected: dict[str, float]) -> None:
    found = np.quantile(given["sorted"], given["probability"], method="linear")
    assert found == pytest.approx(expected["value"], abs=1e-12)


@of_kind("task_cluster_bootstrap95")
def test_cluster_bootstrap(given: dict[str, Any], expected: dict[str, float]) -> None:
    found = cluster_bootstrap(
        given["taskDifferencesInManifestOrder"], Mulberry32(given["seed"]), replicates=given["replicates"]
    )
    assert found is not None
    told = (found.estimate, found.interval.low, found.interval.high)
    assert told == pytest.approx((expected["estimate"], expected["lower"], expected["upper"]), abs=1e-9)


@of_kind("mde")
def test_power_of_the_sign_flip(given: dict[str, Any], expected: dict[str, float]) -> None:
    """The rule is one-sided in what it finds: the left arm, whose failures are counted, fails less.

    How difficulty was drawn where the arms share none is not told: ours, of the same spread, gives a few points more.
    """
    mean, spread = given["baselineRate"], (1 - given["icc"]) / given["icc"]
    hard = Difficulty(mean * spread, (1 - mean) * spread)
    tasks, trials = given["tasks"], given["trials"]

    def fails_less(left: Any, right: Any) -> bool:
        return bool(left.sum() < right.sum()) and sign_flip([int(one) for one in right - left]).p_value <= 0.05

    drop = -given["absoluteDifference"]
    shared = chance_of(fails_less, Design(tasks, trials, hard), drop, played=1000)
    own = chance_of(fails_less, Design(tasks, trials, hard, shares_difficulty=False), drop, played=1000)
    alike = chance_of(fails_less, Design(tasks, trials, hard), 0.0, played=1000)
    assert shared.estimate == pytest.approx(expected["simulatedPowerSignFlipSharedTaskDifficulty"], abs=0.05)
    assert own.estimate == pytest.approx(expected["simulatedPowerSignFlipIndependentTaskDifficulty"], abs=0.07)
    assert alike.estimate == pytest.approx(expected["simulatedOneDirectionSize"], abs=0.02)
