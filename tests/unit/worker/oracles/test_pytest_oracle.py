"""The oracle `pytest`: its options, and what it asks for. What it withstands is in tests/abuse/test_verifier.py."""

import json
from typing import Any

import pytest

from farm.errors import SpecError
from farm.model import OracleFinding
from tests.builders.worker.oracles import DONE, NONCE, Room
from worker.oracles.pytest_oracle import PytestOracle, pytest_kit
from worker.session import CheckResult

RIGHT = f'FARM-FINDING {NONCE} {{"correct": true, "numbers": {{"tests": 2}}}}\n'.encode()


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({}, "tests"),
        ({"tests": []}, "tests"),
        ({"tests": ["../test_a.py"]}, "tests.0"),
        ({"tests": ["/test_a.py"]}, "tests.0"),
        ({"tests": ["test_a.txt"]}, "tests.0"),
        ({"tests": ["test_a.py::"]}, "tests.0"),
        ({"tests": ["-rf"]}, "tests.0"),
        ({"tests": ["test_a.py"], "python": "./python3"}, "python"),
        ({"tests": ["test_a.py"], "python": "/cell/ws/python3"}, "python"),
        ({"tests": ["test_a.py"], "import_from": [".."]}, "import_from.0"),
        ({"tests": ["test_a.py"], "plugins": ["x"]}, "plugins"),
    ],
)
def test_options_that_are_wrong_are_refused_by_name(options: dict[str, Any], place: str) -> None:
    with pytest.raises(SpecError, match=f"'pytest', {place}:"):
        PytestOracle(options)


def test_options_are_pinned_whole() -> None:
    assert PytestOracle({"tests": ["test_a.py"]}).options == {
        "tests": ["test_a.py"],
        "must_fail": [],
        "import_from": ["."],
        "python": "python3",
    }


def test_the_check_runs_isolated_from_the_kit_with_its_order_and_nonce() -> None:
    room = Room(CheckResult(DONE, RIGHT, b"2 passed"))
    found = PytestOracle({"tests": ["test_a.py"], "import_from": ["src"]}).find(room.request())
    ((argv, env),) = room.asked
    assert argv[:-1] == ("python3", "-I", "-S", "-B", "/cell/kit/farm_verifier/verify.py")
    assert json.loads(argv[-1]) == {
        "kit": "/cell/kit",
        "hidden": "/cell/.o-1",
        "tests": ["test_a.py"],
        "must_fail": [],
        "import_from": ["/cell/ws/src"],
    }
    assert env == {"FARM_NONCE": NONCE}
    assert found == OracleFinding(correct=True, numbers={"tests": 2}, exit=DONE)


def test_the_kit_holds_pytest_and_all_that_it_imports_as_sources() -> None:
    kit = pytest_kit()
    tops = {path.partition("/")[0] for path in kit.files}
    assert {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "farm_verifier"} <= tops
    assert {path.rpartition(".")[2] for path in kit.files} == {"py", "ini"}
