"""The oracle `vitest`: its options, and what it asks for. What it withstands is in tests/abuse/test_vitest.py."""

import json
from dataclasses import replace
from typing import Any

import pytest

from farm.errors import SpecError
from farm.model import Dependency, OracleFinding
from tests.builders.worker.oracles import DIGEST, DONE, NONCE, Room
from worker.oracles.vitest import VitestOracle
from worker.session import CheckResult, OracleRequest

RIGHT = f'FARM-FINDING {NONCE} {{"correct": true, "numbers": {{"tests": 1}}}}\n'.encode()
TESTS = {"tests/sums.test.ts": ["add > adds"]}


def asked(room: Room, *targets: str) -> OracleRequest:
    request = room.request()
    brought = tuple(Dependency(files=DIGEST, target=target) for target in targets)
    return replace(request, task=request.task.model_copy(update={"dependencies": brought}))


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({}, "tests"),
        ({"tests": {}}, "tests"),
        ({"tests": {"a.test.ts": []}}, "tests.a.test.ts"),
        ({"tests": {"a.test.ts": [""]}}, "tests.a.test.ts.0"),
        ({"tests": {"../a.test.ts": ["x"]}}, "tests.../a.test.ts"),
        ({"tests": {"./a.test.ts": ["x"]}}, "tests../a.test.ts"),
        ({"tests": TESTS, "runner": "/usr/lib/node_modules"}, "runner"),
        ({"tests": TESTS, "node": "./node"}, "node"),
        ({"tests": TESTS, "config": "vitest.config.ts"}, "config"),
    ],
)
def test_options_that_are_wrong_are_refused_by_name(options: dict[str, Any], place: str) -> None:
    with pytest.raises(SpecError, match=f"'vitest', {place}"):
        VitestOracle(options)


def test_the_judge_is_told_the_dependency_the_hidden_files_and_every_tests_name() -> None:
    room = Room(CheckResult(DONE, RIGHT, b""))
    found = VitestOracle({"tests": TESTS}).find(asked(room, "vendor", "node_modules"))
    ((argv, env),) = room.asked
    assert argv[:-1] == ("python3", "-I", "-S", "-B", "/cell/kit/farm_verifier/verify.py")
    assert json.loads(argv[-1]) == {
        "node": "node",
        "runner": "/cell/deps/2/node_modules",
        "hidden": "/cell/.o-1",
        "workspace": "/cell/ws",
        "tests": TESTS,
        "must_fail": {},
    }
    assert env == {"FARM_NONCE": NONCE}
    assert found == OracleFinding(correct=True, numbers={"tests": 1}, exit=DONE)
    assert {path.rpartition("/")[2] for kit in room.lent for path in kit.files} == {
        "verify.py",
        "run_tests.mjs",
        "farm_must_fail.test.mjs",
    }


def test_planning_is_told_which_dependency_holds_the_runner() -> None:
    assert VitestOracle({"tests": TESTS, "runner": "web/node_modules"}).dependencies == ("web/node_modules",)


def test_a_task_without_the_dependency_is_refused() -> None:
    with pytest.raises(SpecError, match="needs a dependency of the task at 'node_modules'"):
        VitestOracle({"tests": TESTS}).find(asked(Room(), "vendor"))
