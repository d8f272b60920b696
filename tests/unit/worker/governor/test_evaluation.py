"""What a contract's checks come to, without a sandbox."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from farm.model import SessionReport
from worker.checks.file_checks import Absent, Found, NoText, Text
from worker.governor.contract import Contract
from worker.governor.evaluation import Calls, Evaluation
from worker.phases import ToolCall
from worker.session import ArtifactProblem


@dataclass
class Scene:
    """A standstill with told files, and verifiers that pass so many times."""

    files: dict[str, Found] = field(default_factory=dict)
    passes: list[bool] = field(default_factory=list)
    ran: list[tuple[str, ...]] = field(default_factory=list)

    def look(self, path: str) -> Found:
        return self.files.get(path, Absent())

    def artifact(self, path: str, most_bytes: int) -> bytes | ArtifactProblem:
        raise NotImplementedError

    def verify(self, argv: tuple[str, ...]) -> bool:
        self.ran.append(argv)
        return self.passes.pop(0)

    def judge(self, sessions: tuple[SessionReport, ...]) -> bool | None:
        raise NotImplementedError

    def note(self, line: bytes) -> None:
        raise NotImplementedError


WELL = ToolCall("deploy", '{"to": "test"}', succeeded=True)
BADLY = ToolCall("deploy", '{"to": "live"}', succeeded=False)


def wrong(
    check: dict[str, Any], scene: Scene | None = None, calls: tuple[ToolCall, ...] | None = (), maybe: Any = None
) -> str:
    claim = {"id": "c", "statement": "S", "importance": "critical", "checks": ["x"]}
    checks = [{"id": "x", **check}]
    contract = Contract.model_validate({"objective": "O", "claims": [claim], "checks": checks, "attempts": 1})
    known = Calls(calls, calls if maybe is None else maybe)
    (result,) = Evaluation(scene or Scene(), {"unit": ("make", "test")}, known).of(contract)
    assert result.passed is (not result.detail)
    return result.detail


def test_files_are_checked_by_the_oracles_own_rule() -> None:
    scene = Scene({"a.json": Text('{"b": 3.0}'), "big": NoText("the file is larger than 5 bytes")})
    same = {"kind": "json_equals", "path": "a.json", "pointer": "/b", "value": 3}
    assert wrong(same, scene) == ""
    assert wrong({"kind": "file_not_contains", "path": "big", "text": "x"}, scene) == "the file is larger than 5 bytes"
    assert wrong({"kind": "file_not_contains", "path": "gone", "text": "x"}, scene) == "the path is absent"


@pytest.mark.parametrize(
    ("check", "calls", "says"),
    [
        ({"kind": "tool_succeeded", "tool": "deploy"}, (WELL,), ""),
        ({"kind": "tool_succeeded", "tool": "deploy"}, (BADLY,), "0 of 1"),
        ({"kind": "tool_succeeded", "tool": "other"}, (WELL,), "0 of 1"),
        ({"kind": "tool_succeeded", "tool": "deploy", "min_count": 2}, (WELL,), "1 of 2"),
        ({"kind": "tool_succeeded", "tool": "deploy", "arguments_contain": "test"}, (WELL,), ""),
        ({"kind": "tool_succeeded", "tool": "deploy", "arguments_contain": "live"}, (WELL,), "0 of 1"),
        ({"kind": "tool_not_called", "tool": "deploy"}, (BADLY,), "was called"),
        ({"kind": "tool_not_called", "tool": "other"}, (WELL,), ""),
        ({"kind": "no_tool_errors"}, (WELL,), ""),
        ({"kind": "no_tool_errors"}, (WELL, BADLY, WELL), "'deploy' failed"),
        ({"kind": "tool_not_called", "tool": "other"}, None, "can't be seen"),
        ({"kind": "no_tool_errors"}, None, "can't be seen"),
    ],
)
def test_tools_are_checked_by_what_was_called(check: dict[str, Any], calls: Any, says: str) -> None:
    detail = wrong(check, calls=calls)
    assert (detail == "") is (says == "")
    assert says in detail


def test_a_call_of_which_nobody_knows_the_order_counts_against_the_agent_alone() -> None:
    assert wrong({"kind": "tool_succeeded", "tool": "deploy"}, calls=(), maybe=(WELL,)) != ""
    assert wrong({"kind": "tool_not_called", "tool": "deploy"}, calls=(), maybe=(WELL,)) != ""


@pytest.mark.parametrize(
    ("passes", "times", "says"),
    [
        ([True], 1, ""),
        ([False], 1, "the verifier 'unit' failed, at run 1 of 1"),
        ([True, True], 2, ""),
        ([True, False], 2, "at run 2 of 2"),
    ],
)
def test_a_verifier_is_run_anew_and_no_tool_stands_in_for_it(passes: list[bool], times: int, says: str) -> None:
    scene = Scene(passes=list(passes))
    check = {"kind": "code_verification_succeeded", "profile": "unit", "min_count": times}
    detail = wrong(check, scene, calls=(ToolCall("unit", "", succeeded=True),) * 3)
    assert says in detail
    assert (detail == "") is (says == "")
    assert scene.ran == [("make", "test")] * len(passes)
