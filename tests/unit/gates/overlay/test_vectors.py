"""The contract's published vectors, as far as they are rules of the table."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from farm.gates.exact import mean, median
from farm.gates.overlay import OverlayGate, exit_reason
from farm.gates.overlay.comparison import Values, efficacy, reduction
from farm.gates.overlay.ending import SampleEnd
from farm.gates.overlay.policy import CasePolicy, Comparator, Rules
from farm.gates.overlay.sample import read_sample
from farm.gates.table import Lifecycle, Row
from farm.model import (
    CloseReason,
    Direction,
    ExitKind,
    Fault,
    FaultKind,
    Measured,
    Metric,
    MetricSource,
    OracleFinding,
    ProcessExit,
    RetryPolicy,
    ScopeFinding,
    SessionReport,
    Unsettled,
)
from tests.builders.gates import (
    BASH_CALLS,
    BEHAVIOURS,
    ENDED_WELL,
    OFF,
    ON,
    At,
    a_plan,
    a_row,
    a_session,
    a_table,
    an_exit,
)
from worker.agents.ending import Heard, ending

VECTORS = json.loads(Path("tests/data/overlay-vectors.json").read_text())["vectors"]
TIMED_OUT = Lifecycle(close=CloseReason.DEADLINE, cleanup_incomplete=False)


def of_kind(kind: str) -> list:
    return [
        pytest.param(vector["input"], vector["expected"], id=vector["id"])
        for vector in VECTORS
        if vector["kind"] == kind
    ]


def case_policy(given: dict) -> dict:
    case = {
        "dedicated": {"gate": "reduction"},
        "effort": {},
        "literal": {"correct_metric": 3},
    }[given["family"]]
    return case | {"unsupported_hypothesis": given["unsupported_hypothesis"]}


def vector_row(sample: dict, at: At, metric: Metric) -> Row:
    """Turn a vector's sample into a settled row."""
    row = a_row(at, sample["metric"], metric)
    match sample:
        case {"exitReason": "rate_limit_exhausted"}:
            fault = Fault(kind=FaultKind.RATE_LIMIT, detail="429")
            return row.model_copy(update={"sessions": (), "oracle": None, "scope": None, "metrics": {}, "fault": fault})
        case {"exitReason": "validation_failed", "metric": None}:
            return row.model_copy(update={"metrics": {metric.name: Measured(name=metric.name, value=None)}})
        case {"exitReason": "validation_failed"}:
            return row.model_copy(update={"scope": ScopeFinding(before_oracle=("new.txt",))})
        case {"answerOk": False}:
            finding = OracleFinding(correct=False, answer_error=sample["answerError"])
            return row.model_copy(update={"oracle": finding})
        case _:
            return row


def vector_lifecycle(lived: dict) -> Lifecycle:
    return Lifecycle(
        close=CloseReason.DEADLINE if lived["timedOut"] else CloseReason.COMPLETE,
        cleanup_incomplete=lived["cleanupIncomplete"],
        errors=tuple(lived["errors"]),
    )


@pytest.mark.parametrize(("given", "expected"), of_kind("arms_to_verdict"))
def test_arms_give_the_published_verdict(given: dict, expected: dict) -> None:
    metric = Metric(
        name=given["metricName"],
        source=MetricSource.TOOL_CALLS,
        key="*",
        minimum=given["minimum"],
        maximum=given["maximum"],
        direction=Direction(given["direction"]),
    )
    sides = ((ON, given["on"]), (OFF, given["off"]))
    rows = tuple(
        vector_row(sample, At(arm, trial), metric)
        for arm, samples in sides
        for trial, sample in enumerate(samples, start=1)
    )
    gate = OverlayGate()
    options = {"metric": metric.name, "planned": given["plannedPerArm"]}
    case = {"family": given["family"], "unsupported_hypothesis": given["unsupportedHypothesis"]}
    policy = gate.policy({**options, "cases": {"answer": case_policy(case)}}, ("answer",))

    judgement = gate.judge(a_table(rows, a_plan(metric=metric), vector_lifecycle(given["lifecycle"])), policy)

    found = judgement.findings["cases"]["answer"]
    assert {
        "comparisonStatus": found["status"],
        "criterionMet": found["criterion_met"],
        "meanOn": found["mean_on"],
        "meanOff": found["mean_off"],
        "medianOff": found["median_off"],
        "measurementsValid": found["measurements_valid"],
        "onCorrectnessPassed": found["on_correctness_passed"],
        "fixtureGatePassed": found["gate_passed"],
        "casePassed": found["passed"],
    } == expected
    assert (judgement.decision == "pass") == expected["casePassed"]


@pytest.mark.parametrize(("given", "expected"), of_kind("comparator"))
def test_comparators_meet_their_published_boundaries(given: dict, expected: dict) -> None:
    values = Values(on=tuple(map(Fraction, given["on"])), off=tuple(map(Fraction, given["off"])))
    bar = {
        "lower_is_better_20pct": lambda: efficacy(values, Direction.LOWER, Comparator.RATIO, Rules()),
        "higher_is_better_20pct": lambda: efficacy(values, Direction.HIGHER, Comparator.RATIO, Rules()),
        "lower20_or_zero_baseline": lambda: reduction(values, Rules()),
        "fanout_retired": lambda: efficacy(values, Direction.HIGHER, Comparator.LIFT, Rules()),
    }[given["rule"]]()

    assert {
        "met": bar.holds,
        "meanOn": pytest.approx(float(mean(values.on)), abs=1e-9),
        "meanOff": pytest.approx(float(mean(values.off)), abs=1e-9),
        "medianOff": pytest.approx(float(median(values.off)), abs=1e-9),
    } == expected


def broken(**changes) -> Row:
    """Make a row without evidence."""
    return a_row(sessions=(), oracle=None, scope=None, metrics={}, **changes)


def ended(exit_: ProcessExit, **heard) -> tuple[SessionReport, ...]:
    """Make the one session of a sample as a worker reports it, from its exit and from what its stream said."""
    said = Heard(**{"terminals": 1, "answer": '{"version":"1.0.0"}', "native_reason": "success", **heard})
    end = ending(exit_, said)
    return (a_session(exit=exit_, reason=end.reason, problem=end.problem, final_answer=said.answer),)


def a_limit(limit: str) -> ProcessExit:
    return ProcessExit(kind=ExitKind.LIMIT, limit=limit, wall_s=1.5)


SEGV = ProcessExit(kind=ExitKind.SIGNALED, signal=11, wall_s=1.5)
TURN_CAP = {"native_reason": "error_max_turns", "has_error_flag": True, "answer": None}
NO_THINKING = {BASH_CALLS.name: Measured(name=BASH_CALLS.name, value=None, problem="thinking_tokens is absent")}
SITUATIONS = {
    "T02": broken(fault=Fault(kind=FaultKind.PROVIDER, detail="500 from the provider")),
    "T04": a_row(sessions=ended(an_exit(code=1), **TURN_CAP)),
    "T05": a_row(sessions=ended(an_exit(), terminals=0, answer=None)),
    "T07": a_row(sessions=ended(an_exit(), has_error_flag=True)),
    "T09": a_row(metrics={BASH_CALLS.name: Measured(name=BASH_CALLS.name, value=None, problem="not finite")}),
    "T11": a_row(scope=ScopeFinding(before_oracle=("new.txt",))),
    "T12": a_row(scope=ScopeFinding(after_oracle=("cache.bin",))),
    "T13": a_row(scope=ScopeFinding(before_oracle=("link: a symbolic link",))),
    "T14": a_row(metrics=NO_THINKING),
    "T15": a_row(sessions=ended(an_exit(ExitKind.STOPPED), **TURN_CAP)),
    "T16": a_row(sessions=ended(an_exit()), oracle=OracleFinding(correct=False, answer_error="expected 1.0.0")),
    "T17": a_row(
        At(), 2, BEHAVIOURS, sessions=ended(an_exit()), oracle=OracleFinding(correct=True, numbers={"behaviours": 2})
    ),
}


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["kind"] == "sample_outcome"], ids=lambda v: v["id"])
def test_a_sample_ends_as_published(vector: dict) -> None:
    row = SITUATIONS[vector["id"]]
    literal = vector["id"] == "T17"
    metric = BEHAVIOURS if literal else BASH_CALLS
    lifecycle = TIMED_OUT if vector["id"] == "T15" else ENDED_WELL

    sample = read_sample(row, metric, CasePolicy(metric=metric.name, correct_metric=3 if literal else None), lifecycle)

    assert {"measurementPassed": sample.is_valid, "exitReason": sample.exit_reason} == vector["expected"]
    if sample.is_valid:
        assert not sample.is_correct


CHECKED = {
    "O01": OracleFinding(correct=False, numbers={"behaviours": 0}),
    "O02": OracleFinding(correct=True, numbers={"behaviours": 3}),
    "O03": OracleFinding(correct=False, numbers={"behaviours": 0}),
    "O06": OracleFinding(correct=False, numbers={"behaviours": 0}),
    "O08": OracleFinding(correct=None, problem="src/pricing.ts is a symbolic link"),
    "O09": OracleFinding(correct=None, problem="the check reached its limit wall"),
    "O10": OracleFinding(correct=None, problem="the check was killed by signal 9"),
    "O11": OracleFinding(correct=None, problem="the check reached its limit output"),
}


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["kind"] == "literal_behaviour_check"], ids=lambda v: v["id"]
)
def test_an_oracles_finding_becomes_the_published_metric(vector: dict) -> None:
    finding = CHECKED[vector["id"]]
    row = a_row(At(), finding.numbers.get("behaviours"), BEHAVIOURS, oracle=finding)

    sample = read_sample(row, BEHAVIOURS, CasePolicy(metric=BEHAVIOURS.name, correct_metric=3), ENDED_WELL)

    expected = vector["expected"]
    assert sample.value == expected["metric"]
    assert sample.is_valid == expected.get("measurementPassed", True)


CUT_OFF = broken(unsettled=Unsettled.STOPPED, attempts=1)
LIFECYCLES = {
    "L02": ([CUT_OFF, None, None], TIMED_OUT.model_copy(update={"cleanup_incomplete": True})),
    "L04": ([CUT_OFF, None, None], TIMED_OUT),
    "L05": ([a_row()] * 3, ENDED_WELL.model_copy(update={"cleanup_incomplete": True, "errors": ("clean-up: x",)})),
    "L06": (
        [broken(fault=Fault(kind=FaultKind.HOST, detail="disk full"), attempts=1)] * 3,
        ENDED_WELL.model_copy(update={"errors": ("disk full",) * 6}),
    ),
    "L07": ([a_row(), CUT_OFF, None], TIMED_OUT),
    "L08": ([a_row()] * 3, ENDED_WELL.model_copy(update={"cleanup_incomplete": True})),
}


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["kind"] == "case_lifecycle"], ids=lambda v: v["id"])
def test_a_case_that_ended_badly_fails_as_published(vector: dict) -> None:
    samples, lifecycle = LIFECYCLES[vector["id"]]
    rows = tuple(
        (sample or broken(unsettled=Unsettled.NEVER_STARTED)).model_copy(
            update={"arm": arm, "trial": trial, "cell": f"answer.{arm}.{trial}"}
        )
        for arm in (ON, OFF)
        for trial, sample in enumerate(samples, start=1)
    )
    gate = OverlayGate()

    judgement = gate.judge(
        a_table(rows, a_plan(trials=3), lifecycle), gate.policy({"metric": BASH_CALLS.name}, ("answer",))
    )

    expected = vector["expected"]
    found = judgement.findings["cases"]["answer"]
    reasons = [sample["exit_reason"] for sample in found["samples"]]
    counts = {
        "planned": len(reasons),
        "started": sum(reason != SampleEnd.NEVER_STARTED for reason in reasons),
        "timeoutRecorded": reasons.count(SampleEnd.TIMEOUT),
        "validRecorded": sum(sample["measurement_passed"] for sample in found["samples"]),
    }
    seen = {check.name: check.observed for check in judgement.checks if check.subject == "sweep"}
    facts = {
        "passed": found["passed"],
        "timedOut": seen["timed-out"],
        "cleanupIncomplete": seen["cleanup-incomplete"],
        "errorCount": seen["errors"],
    }
    known = facts | counts
    assert {name: value for name, value in known.items() if name in expected} == {
        name: value for name, value in expected.items() if name in known
    }
    assert judgement.decision == "fail"


RETRIED = {
    "R01": [FaultKind.RATE_LIMIT, None],
    "R03": [FaultKind.RATE_LIMIT, None],
    "R05": [FaultKind.RATE_LIMIT] * 4,
    "R06": [FaultKind.PROVIDER],
    "R07": [FaultKind.RATE_LIMIT],
}
CONTRACT_RETRY = RetryPolicy(most_attempts=4, kinds=frozenset({FaultKind.RATE_LIMIT}))


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["kind"] == "rate_limit_retry" and v["id"] in RETRIED], ids=lambda v: v["id"]
)
def test_only_rate_limits_are_tried_again_and_wait_as_published(vector: dict) -> None:
    kinds = RETRIED[vector["id"]]
    faults = [Fault(kind=kind, detail="x") if kind else None for kind in kinds]
    again = [CONTRACT_RETRY.earns_another(fault, attempt) for attempt, fault in enumerate(faults, start=1)]
    delays = [
        int(CONTRACT_RETRY.delay_s(fault, attempt) * 1000)
        for attempt, fault in enumerate(faults, start=1)
        if fault is not None and again[attempt - 1]
    ]

    expected = vector["expected"]
    assert delays == expected["backoffMs"]
    assert len(faults) == expected["streamsRetained"]
    assert again == [True] * len(expected["backoffMs"]) + [False] * (len(faults) - len(expected["backoffMs"]))


def test_rate_limits_used_up_are_an_outcome_of_their_own() -> None:
    row = broken(fault=Fault(kind=FaultKind.RATE_LIMIT, detail="429 four times"), attempts=4)

    assert exit_reason(row, BASH_CALLS, ENDED_WELL) == "rate_limit_exhausted"


def test_a_success_that_was_then_stopped_is_no_success() -> None:
    row = a_row(sessions=(a_session(exit=an_exit(ExitKind.STOPPED)),))

    assert exit_reason(row, BASH_CALLS, ENDED_WELL) == "stopped"


@pytest.mark.parametrize(
    ("sessions", "word"),
    [
        pytest.param(ended(an_exit()), "success", id="well"),
        pytest.param(ended(an_exit(ExitKind.STOPPED)), "stopped", id="an order that is not the deadline"),
        pytest.param(ended(SEGV), "harness_error", id="killed by a signal"),
        pytest.param(ended(an_exit(code=1)), "harness_error", id="a code after its terminal event"),
        pytest.param(ended(an_exit(code=1), terminals=0, answer=None), "harness_error", id="no terminal event"),
        pytest.param(ended(an_exit(), stream_problem="line 3 is not JSON"), "harness_error", id="a broken stream"),
        pytest.param(ended(an_exit(), terminals=2), "validation_failed", id="two terminal events"),
        pytest.param(ended(an_exit(), answer=" "), "validation_failed", id="a blank answer"),
        pytest.param(ended(an_exit(), native_reason="error"), "error", id="the agent's own word"),
        pytest.param(ended(an_exit(), native_reason="stopped"), "agent_stopped", id="the agent's word is one of ours"),
        pytest.param(ended(an_exit(), native_reason="timeout"), "timeout", id="the agent's word is the contract's"),
        pytest.param(ended(a_limit("wall")), "wall_limit", id="its own limit of time is not the deadline"),
        pytest.param(ended(a_limit("output")), "output_limit", id="its limit of output"),
        pytest.param(ended(a_limit("memory")), "limit", id="another limit"),
    ],
)
def test_a_workers_report_of_a_session_ends_a_sample_in_the_contracts_words(
    sessions: tuple[SessionReport, ...], word: str
) -> None:
    sample = read_sample(a_row(sessions=sessions), BASH_CALLS, CasePolicy(metric=BASH_CALLS.name), ENDED_WELL)

    assert (sample.exit_reason, sample.is_valid) == (word, word == "success")
