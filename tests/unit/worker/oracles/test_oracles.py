"""The oracles `answer` and `command`, with checks that are told what to say."""

import json
from typing import Any

import pytest

from farm.errors import SpecError
from farm.model import (
    ExitKind,
    OracleFinding,
)
from tests.builders.worker.oracles import DONE, NONCE, Room
from worker.oracles.answer import AnswerOracle
from worker.oracles.command import CommandOracle
from worker.oracles.finding_line import UNSAID
from worker.session import CheckResult


def judged(expected: Any, answer: str | None) -> OracleFinding:
    return AnswerOracle({"expected": expected}).find(Room(answer=answer).request())


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ({"a": [1, 2.5, None]}, ' {"a": [1, 2.5, null]}\n'),
        ({"a": 1, "b": 2}, '{"b": 2, "a": 1}'),
        (True, "true"),
        ("x", '"x"'),
        (None, "null"),
        ([], "[]"),
        (1.0, "1.0"),
        (100.0, "1e2"),
    ],
)
def test_an_equal_document_is_right(expected: Any, answer: str) -> None:
    assert judged(expected, answer) == OracleFinding(correct=True)


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        (1, "true"),
        (True, "1"),
        (1, "1.0"),
        (1.0, "1"),
        (1, '"1"'),
        ({"a": 1}, '{"a": 1, "b": 2}'),
        ({"a": 1, "b": 2}, '{"a": 1}'),
        ({"a": 1}, '{"a": 1, "a": 1}'),
        ([1, 2], "[2, 1]"),
        ([1], "[1, 1]"),
        ({"a": 1}, '```json\n{"a": 1}\n```'),
        ({"a": 1}, 'The answer is {"a": 1}'),
        ({"a": 1}, '{"a": 1} {"a": 1}'),
        (None, "None"),
        (1, "01"),
        (0, "NaN"),
        ([], "[" * 100_000),
        ([[]], "[" * 600 + "]" * 600),
        (1, "9" * 5000),
    ],
)
def test_any_other_text_is_wrong_with_a_message(expected: Any, answer: str) -> None:
    finding = judged(expected, answer)
    assert finding.correct is False
    assert finding.answer_error


@pytest.mark.parametrize("answer", [None, "", " \n\t"])
def test_a_missing_answer_is_no_wrong_answer(answer: str | None) -> None:
    finding = judged(1, answer)
    assert finding.correct is None
    assert finding.problem


def test_the_answer_oracle_needs_exactly_an_expected_value() -> None:
    for options in ({}, {"expected": 1, "more": 2}):
        with pytest.raises(SpecError):
            AnswerOracle(options)


def a_result(stdout: str, **changes: Any) -> CheckResult:
    return CheckResult(DONE.model_copy(update=changes), stdout.encode(), b"")


def line(**report: Any) -> str:
    return f"FARM-FINDING {NONCE} {json.dumps(report)}\n"


def found(stdout: str, *, keep_output: bool = True, **changes: Any) -> OracleFinding:
    oracle = CommandOracle({"argv": ["python3", "{hidden}/check.py"], "reads": "report"})
    return oracle.find(Room(a_result(stdout, **changes), keep_output=keep_output).request())


def test_the_check_is_told_where_its_files_are_and_a_nonce() -> None:
    room = Room(a_result("said"))
    CommandOracle({"argv": ["python3", "{hidden}/check.py"]}).find(room.request())
    assert room.asked == [(("python3", "/cell/.o-1/check.py"), {"FARM_HIDDEN": "/cell/.o-1", "FARM_NONCE": NONCE})]


@pytest.mark.parametrize(
    ("program", "executes"),
    [("{hidden}/./bin/check", ("bin/check",)), ("python3", ()), ("./check", ()), ("x{hidden}/check", ())],
)
def test_planning_is_told_which_hidden_file_is_started(program: str, executes: tuple[str, ...]) -> None:
    assert CommandOracle({"argv": [program, "{hidden}/more"]}).executes == executes


@pytest.mark.parametrize(
    ("changes", "correct", "error"),
    [
        ({}, True, None),
        ({"code": 1}, False, "the check exited with code 1"),
        ({"kind": ExitKind.SIGNALED, "code": None, "signal": 9}, False, "the check was killed by signal 9"),
        (
            {"kind": ExitKind.LIMIT, "code": None, "limit": "wall"},
            False,
            "the check reached its wall limit after 1.0 s",
        ),
    ],
)
def test_by_exit_only_zero_is_right(changes: dict[str, Any], correct: bool, error: str | None) -> None:
    finding = CommandOracle({"argv": ["true"]}).find(Room(a_result("", **changes)).request())
    assert (finding.correct, finding.answer_error, finding.problem) == (correct, error, None)


def test_a_report_is_taken_at_its_word() -> None:
    finding = found("noise\n" + line(correct=True, numbers={"behaviours": 3, "share": 0.5}) + "more noise\n")
    assert (finding.correct, finding.numbers, finding.problem) == (True, {"behaviours": 3, "share": 0.5}, None)
    wrong = found(line(correct=False, error="price total is the count"), code=1)
    assert (wrong.correct, wrong.answer_error) == (False, "price total is the count")


def test_a_checks_own_words_and_unasked_numbers_are_kept_only_where_the_task_says_so() -> None:
    numbers = {"behaviours": 3, "secret": 1}
    wrong = found(line(correct=False, error="sum is 3", numbers=numbers), keep_output=False)
    assert (wrong.answer_error, wrong.problem, wrong.numbers) == (UNSAID, None, {"behaviours": 3})
    stuck = found(line(correct=None, problem="no compiler"), keep_output=False)
    assert (stuck.answer_error, stuck.problem) == (None, UNSAID)
    malformed = found(line(correct=True).replace("}", ', "secret": 1, "secret": 2}'), keep_output=False)
    assert malformed.answer_error == "the finding is malformed"


def test_a_check_that_could_not_be_completed_is_no_answer() -> None:
    finding = found(line(correct=None, problem="no compiler"))
    assert (finding.correct, finding.problem) == (None, "no compiler")
    assert found(line(correct=None)).problem


@pytest.mark.parametrize(
    "stdout",
    [
        "",
        "FARM-FINDING\n",
        'FARM-FINDING 000000 {"correct": true}\n',
        line(correct=True) * 2,
        line(correct=True) + 'FARM-FINDING 000000 {"correct": true}\n',
        f"FARM-FINDING {NONCE} true\n",
        f'FARM-FINDING {NONCE} {{"correct": true\n',
        f'FARM-FINDING {NONCE} {{"correct": true, "numbers": {{"a": NaN}}}}\n',
        f'FARM-FINDING {NONCE} {{"correct": true, "numbers": {{"a": 1e999}}}}\n',
        line(correct=True, numbers={"a": True}),
        line(correct=True, numbers={"a": "1"}),
        line(correct="true"),
        line(correct=1),
        line(numbers={}),
        line(correct=True, more=1),
        f'FARM-FINDING {NONCE} {{"correct": false, "correct": true}}\n',
    ],
)
def test_a_report_that_is_not_exact_is_a_wrong_answer(stdout: str) -> None:
    finding = found(stdout)
    assert (finding.correct, finding.numbers, finding.problem) == (False, {}, None)
    assert finding.answer_error


def test_a_report_before_a_signal_or_a_limit_does_not_count() -> None:
    assert found(line(correct=True), kind=ExitKind.SIGNALED, signal=11).correct is False
    assert found(line(correct=True), kind=ExitKind.LIMIT, limit="wall").correct is False


def test_command_options_that_are_wrong_are_refused() -> None:
    for options in ({}, {"argv": []}, {"argv": ["x"], "reads": "mind"}, {"argv": ["x"], "env": {}}):
        with pytest.raises(SpecError):
            CommandOracle(options)
