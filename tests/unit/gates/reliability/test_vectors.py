"""The reliability benchmark's own examples, run by run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from farm.gates.reliability.policy import ReliabilityPolicy
from farm.gates.reliability.ruling import Found, Registration, rule
from farm.gates.reliability.trial import Part, Trial
from farm.model import Terminal, claims_success
from farm.stats.bootstrap import Bootstrap

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[3] / "data/reliability-vectors.json").read_text())
PARTS = {"baseline": Part.BASELINE, "model": Part.MODEL, "reference": Part.REFERENCE}
CHECKS = {
    "preregistrationCommittedAndPublished": "committed-and-published",
    "fullCaseCount": "tasks",
    "fullTrialCount": "trials",
    "noOperationalFailures": "operational-failures",
    "noFalseCertification": "false-certifications",
    "adoption": "adoption",
    "referenceMatch": "fidelity",
    "falseExhaustionUpper": "false-exhaustion",
    "falseAbstentionUpper": "false-abstention",
    "noMaterialOracleRegression": "success",
    "relativeReduction": "reduction",
    "clusterBenefitAboveZero": "benefit",
    "signFlip": "sign-flip",
    "moreFalseSuccess": "more-false-success",
    "modelFalseCert": "model-certifies-falsely",
    "refFalseCert": "reference-certifies-falsely",
    "falseExhaustionPoint": "exhausts-falsely",
}
LETTERS: dict[str, dict[str, Any]] = {
    "s": {"oracle_passed": True, "claims_success": True, "terminal": Terminal.CERTIFIED},
    "n": {"oracle_passed": True, "claims_success": True},
    "f": {"oracle_passed": False, "claims_success": True},
    "c": {"oracle_passed": False, "claims_success": True, "terminal": Terminal.CERTIFIED},
    "x": {"oracle_passed": False, "claims_success": False, "terminal": Terminal.EXHAUSTED},
    "a": {"oracle_passed": False, "claims_success": False, "terminal": Terminal.ABSTAINED},
    "X": {"oracle_passed": True, "claims_success": False, "terminal": Terminal.EXHAUSTED},
    "Y": {"oracle_passed": True, "claims_success": True, "terminal": Terminal.EXHAUSTED},
    "A": {"oracle_passed": True, "claims_success": False, "terminal": Terminal.ABSTAINED},
    "r": {"oracle_passed": True, "claims_success": False},
    "u": {"oracle_passed": False, "claims_success": False},
    "t": {"oracle_passed": False, "claims_success": False, "is_operational_failure": True},
}


def of_kind(kind: str) -> Callable[[Any], Any]:
    chosen = [vector for vector in VECTORS if vector["kind"] == kind]
    assert chosen
    cases = [(vector["input"], vector["expected"]) for vector in chosen]
    return pytest.mark.parametrize(("given", "expected"), cases, ids=[vector["id"] for vector in chosen])


def a_trial(part: Part, task: int, number: int, letter: str) -> Trial:
    facts = dict(LETTERS[letter])
    if part is Part.BASELINE:
        facts.pop("terminal", None)
    opened = facts.get("terminal", Terminal.NONE) is not Terminal.NONE
    return Trial(
        task=f"task-{task:02d}",
        part=part,
        number=number,
        is_solvable=task < 16,
        has_contract=opened,
        matches_reference=opened and part is Part.REFERENCE,
        **facts,
    )


def ruled(given: dict[str, Any]) -> Found:
    trials = {
        part: [
            a_trial(part, task, number, letter)
            for task, letters in enumerate(given["cells"][name])
            for number, letter in enumerate(letters, 1)
        ]
        for name, part in PARTS.items()
    }
    registration = Registration(
        is_locked=True, is_committed=given["trackedTreeClean"], is_published=given["publishedAtUpstream"]
    )
    policy = ReliabilityPolicy(tasks=given["manifestCases"])
    return rule(trials, registration, policy)


def bounds(found: Bootstrap | None) -> list[float]:
    assert found is not None
    return [found.estimate, found.interval.low, found.interval.high]


@of_kind("verdict_from_runs")
def test_the_ruling_its_reasons_and_its_numbers(given: dict[str, Any], expected: dict[str, Any]) -> None:
    found = ruled(given)

    assert found.ruling == expected["verdict"]
    assert [check.name for check in found.proof if not check.holds] == [
        CHECKS[name] for name in expected["failedChecks"]
    ]
    assert [check.name for check in found.harm if check.holds] == [CHECKS[name] for name in expected["harmTriggers"]]
    assert found.authorship == expected["contractAuthorshipFinding"]
    assert found.reduction == pytest.approx(expected["falseSuccessReduction"], abs=1e-9)
    assert found.weighted_cost == pytest.approx(expected["weightedFalseRejectionCost"], abs=1e-9)


@of_kind("verdict_from_runs")
def test_the_effects(given: dict[str, Any], expected: dict[str, Any]) -> None:
    found = ruled(given).effects

    assert bounds(found.benefit) == pytest.approx(expected["falseSuccessBenefit95"], abs=1e-9)
    assert bounds(found.success) == pytest.approx(expected["oracleSuccessDifference95"], abs=1e-9)
    assert bounds(found.rejection) == pytest.approx(expected["falseRejectionPenalty95"], abs=1e-9)
    assert bounds(found.terminal_rejection) == pytest.approx(expected["terminalFalseRejectionPenalty95"], abs=1e-9)
    assert found.sign_flip.p_value == pytest.approx(expected["signFlipP"], abs=1e-12)
    assert found.sign_flip.nonzero == expected["signFlipNonzeroTasks"]
    assert found.mcnemar.left_only == expected["mcnemar"]["leftOnly"]
    assert found.mcnemar.right_only == expected["mcnemar"]["rightOnly"]
    assert found.mcnemar.p_value == pytest.approx(expected["mcnemar"]["p"], rel=1e-5)


@of_kind("verdict_from_runs")
def test_the_counts(given: dict[str, Any], expected: dict[str, Any]) -> None:
    parts = ruled(given).parts
    model = parts[Part.MODEL]

    assert model.false_exhaustion.interval.high == pytest.approx(expected["modelFalseExhaustionUpper"], abs=1e-9)
    assert model.false_abstention.interval.high == pytest.approx(expected["modelFalseAbstentionUpper"], abs=1e-9)
    assert model.adoption.interval.low == pytest.approx(expected["modelAdoptionLower"], abs=1e-9)
    for name, part in PARTS.items():
        counts, summary = expected["counts"][name], parts[part]
        assert {
            "runs": summary.runs,
            "oracle": summary.oracle_passed,
            "fs": summary.false_success.count,
            "fcert": summary.false_certifications,
            "fe": summary.false_exhaustion.count,
            "fa": summary.false_abstention.count,
            "fr": summary.false_rejection.count,
            "adopt": summary.adoption.count,
        } == counts


@of_kind("classify_run")
def test_what_a_run_is_called(given: dict[str, Any], expected: dict[str, bool]) -> None:
    part = Part.BASELINE if given["arm"] == "baseline" else Part.MODEL
    trial = Trial(
        task="one",
        part=part,
        number=1,
        is_solvable=True,
        oracle_passed=given["oraclePass"],
        claims_success=given["claimedComplete"],
        terminal=Terminal(given["terminal"]),
    )

    assert {
        "reportedSuccess": trial.claims_success,
        "falseSuccess": trial.false_success,
        "falseCertification": trial.false_certification,
        "falseExhaustion": trial.false_exhaustion,
        "falseAbstention": trial.false_abstention,
        "falseRejection": trial.false_rejection,
        "terminalFalseRejection": trial.terminal_false_rejection,
        "truthfulCompletionMarker": trial.has_truthful_claim,
    } == expected


@of_kind("live_completion_marker")
def test_what_claims_success(given: dict[str, str], expected: dict[str, bool]) -> None:
    assert claims_success(given["stdout"]) == expected["claimedComplete"]


@pytest.mark.parametrize(
    ("is_solvable", "letter", "is_right"),
    [(True, "s", True), (True, "r", False), (True, "u", False), (False, "u", True), (False, "f", False)],
)
def test_behaviour_is_right_when_it_solves_and_says_so_or_claims_nothing(
    is_solvable: bool, letter: str, is_right: bool
) -> None:
    task = 0 if is_solvable else 19
    assert a_trial(Part.MODEL, task, 1, letter).is_right is is_right
