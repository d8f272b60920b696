"""What happens between the attempts of a governed run: repairs, labels, and which checks are to be asked about."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from farm.gates.reliability.attribution import Checked, GovernedRun, attribute
from farm.gates.reliability.repair import Snapshot, labels, repairs
from farm.gates.reliability.trial import Part, Trial
from farm.model import Capture, Terminal

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[3] / "data/reliability-vectors.json").read_text())
NAMES = {
    "attemptExposures": "exposures",
    "attemptFailures": "failures",
    "failureRateGivenExposure": "failure_rate",
    "uniqueFailureAttempts": "unique_failures",
    "exposedRuns": "exposed_runs",
    "failedRuns": "failed_runs",
    "falseExhaustionRunsWithFailure": "false_exhaustions",
    "shareOfFalseExhaustionRuns": "share_of_false_exhaustions",
}


def of_kind(kind: str) -> Callable[[Any], Any]:
    chosen = [vector for vector in VECTORS if vector["kind"] == kind]
    assert chosen
    cases = [(vector["input"], vector["expected"]) for vector in chosen]
    return pytest.mark.parametrize(("given", "expected"), cases, ids=[vector["id"] for vector in chosen])


@of_kind("repair_transitions")
def test_repairs(given: dict[str, Any], expected: dict[str, int]) -> None:
    snapshots = [
        Snapshot(one["attempt"], one["contractPassed"], one["oraclePass"], Capture(one["captureMode"]))
        for one in given["snapshots"]
    ]
    found = repairs(snapshots, given["terminalOraclePass"], given["contractMaxAttempts"])

    assert {
        "liveSnapshots": found.live,
        "eligibleRepairTransitions": found.eligible,
        "gateRescuesObserved": found.rescues,
        "gateInducedRegressionsObserved": found.regressions,
        "postCertificationRegressionsObserved": found.broken_after_certification,
    } == expected


def test_a_rescue_and_a_regression_are_counted_where_they_were_seen() -> None:
    wrong, right = Snapshot(1, False, False), Snapshot(2, False, True)  # noqa: FBT003 (in the order of its fields)
    found = repairs([wrong, right], passed_at_end=False, budget=3)

    assert (found.eligible, found.rescues, found.regressions) == (2, 1, 1)


@of_kind("snapshot_labels")
def test_labels(given: dict[str, Any], expected: dict[str, dict[str, str]]) -> None:
    found = labels([poll["newAttempts"] for poll in given["polls"]], given["afterExit"])

    assert {str(attempt): capture.value for attempt, capture in found.items()} == expected["labels"]


@of_kind("check_attribution")
def test_attribution(given: dict[str, Any], expected: dict[str, dict[str, float]]) -> None:
    trial = Trial(
        task="one",
        part=Part.MODEL,
        number=1,
        is_solvable=True,
        oracle_passed=given["run"]["oraclePass"],
        claims_success=False,
        terminal=Terminal(given["run"]["terminal"]),
    )
    attempts = [[Checked(kind, passed) for kind, passed in one["results"]] for one in given["attempts"]]
    found = {kind: asdict(told) for kind, told in attribute([GovernedRun(trial, attempts)]).items()}

    assert found.keys() == expected.keys()
    for kind, numbers in expected.items():
        assert {name: found[kind][NAMES[name]] for name in numbers} == numbers


def test_every_failing_check_of_a_falsely_exhausted_run_is_credited_and_none_as_unique() -> None:
    trial = Trial(
        "one", Part.MODEL, 1, is_solvable=True, oracle_passed=True, claims_success=False, terminal=Terminal.EXHAUSTED
    )
    found = attribute([GovernedRun(trial, [[Checked("a", passed=False), Checked("b", passed=False)]])])

    assert [told.share_of_false_exhaustions for told in found.values()] == [1.0, 1.0]
    assert [told.unique_failures for told in found.values()] == [0, 0]
