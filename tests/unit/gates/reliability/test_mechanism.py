"""The five gates of the fault matrix."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from farm.gates.reliability.mechanism import Mechanism, MechanismPart, MechanismPolicy, rule_on_mechanism
from farm.gates.reliability.part_summary import Rate

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[3] / "data/reliability-vectors.json").read_text())
NAMES = {"minimumTrialsPerArmPerCase": "trials", "minimumFalseCompletionReduction": "reduction"}
RUNS = 90
ALL, NONE = Rate(RUNS, RUNS), Rate(0, RUNS)
BASELINE = MechanismPart(false_completions=Rate(80, RUNS), as_expected=ALL, false_certifications=NONE)
GOVERNED = MechanismPart(false_completions=NONE, as_expected=ALL, false_certifications=NONE)


def of_kind(kind: str) -> Callable[[Any], Any]:
    chosen = [vector for vector in VECTORS if vector["kind"] == kind]
    assert chosen
    cases = [(vector["input"], vector["expected"]) for vector in chosen]
    return pytest.mark.parametrize(("given", "expected"), cases, ids=[vector["id"] for vector in chosen])


def a_rate(share: float) -> Rate:
    return Rate(int(Fraction(share).limit_denominator(RUNS) * RUNS), RUNS)


def a_part(given: dict[str, float]) -> MechanismPart:
    return MechanismPart(
        false_completions=a_rate(given["falseCompletionRate"]),
        as_expected=a_rate(given["expectedOutcomeAccuracy"]),
        false_certifications=a_rate(given.get("falseCertificationRate", 0)),
    )


def broken(found: Mechanism) -> list[str]:
    return [check.name for check in found.checks if not check.holds]


@of_kind("keyless_gates")
def test_the_matrix_passes_or_says_which_gate_it_broke(given: dict[str, Any], expected: dict[str, Any]) -> None:
    found = rule_on_mechanism(a_part(given["baseline"]), a_part(given["governed"]), given["trials"], MechanismPolicy())

    assert found.holds is expected["passed"]
    assert broken(found) == [NAMES[name] for name in expected.get("failed", [])]
    if "falseCompletionReduction" in expected:
        assert found.reduction == expected["falseCompletionReduction"]


@pytest.mark.parametrize(
    ("baseline", "governed", "gate"),
    [
        (BASELINE, MechanismPart(Rate(1, RUNS), ALL, NONE), "false-completion"),
        (BASELINE, MechanismPart(NONE, ALL, Rate(1, RUNS)), "false-certification"),
        (MechanismPart(Rate(80, RUNS), Rate(89, RUNS), NONE), GOVERNED, "as-expected"),
        (BASELINE, MechanismPart(NONE, Rate(89, RUNS), NONE), "as-expected"),
        (BASELINE, MechanismPart(NONE, Rate(0, 0), NONE), "as-expected"),
    ],
)
def test_a_single_run_breaks_its_gate(baseline: MechanismPart, governed: MechanismPart, gate: str) -> None:
    assert broken(rule_on_mechanism(baseline, governed, 10, MechanismPolicy())) == [gate]


@pytest.mark.parametrize(("left", "holds"), [(1600, True), (1601, False)])
def test_a_reduction_by_just_what_is_asked_is_enough(left: int, holds: bool) -> None:
    baseline = MechanismPart(Rate(8000, 9000), ALL, NONE)
    governed = MechanismPart(Rate(left, 9000), ALL, NONE)
    found = rule_on_mechanism(baseline, governed, 10, MechanismPolicy(most_false_completion=1.0))
    assert found.holds is holds
