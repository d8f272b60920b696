"""The oracle `vitest`: hidden tests in JavaScript or TypeScript, judged as those of the oracle `pytest` are.

Vitest, 4 or later, comes from one of the task's dependencies, which no session can write. No configuration, setup file
or package of the workspace has a say in how tests are run: all options are given by a script of ours. A judge in
Python, which never imports the candidate, reads each test's outcome from a pipe: every test that the task lists must
have run and passed, tests of ours that must fail must have failed, and so must those of `must_fail`.

Hidden tests lie as they would in the workspace: what `../src/sums` names beside a hidden test is looked for in the
hidden folder first, and then in the workspace. A skipped test has not passed. What remains: code in the process of the
tests that knows this verifier could lie for itself.
"""

import json
from functools import cache
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

from farm.errors import SpecError
from farm.model import OracleFinding, RelativePath, Value
from worker.options import checked
from worker.oracles.finding_line import reported
from worker.oracles.verifier_kit import NUMBERS, VERIFIER, kit_of, verifier_files
from worker.session import WORKSPACE, Kit, OracleRequest, dependency_path

_SCRIPTS = ("verify.py", "run_tests.mjs", "farm_must_fail.test.mjs")
_PROGRAM = r"^(/usr/[A-Za-z0-9._+/-]+|[A-Za-z0-9][A-Za-z0-9._+-]*)$"


def _checked_file(path: str) -> str:
    if path != "/".join(part for part in path.split("/") if part not in {"", "."}):
        raise ValueError(f"{path!r} is not a plain path; write it as tests/sums.test.ts")
    return path


TestFile = Annotated[RelativePath, AfterValidator(_checked_file)]
TestName = Annotated[str, Field(min_length=1, max_length=500)]
Tests = dict[TestFile, Annotated[tuple[TestName, ...], Field(min_length=1)]]


class VitestOptions(Value):
    """What to run: the hidden folder's test files, and each test in them by its full name."""

    tests: Annotated[Tests, Field(min_length=1)]
    """`{tests/sums.test.ts: ["sum > adds"]}`: suites and test, with ` > ` between."""
    must_fail: Tests = {}
    """Hidden tests that claim something false of a right answer: one that passes shows an answer that fits anything."""
    runner: RelativePath = "node_modules"
    """The target of the dependency that holds Vitest."""
    node: Annotated[str, Field(pattern=_PROGRAM)] = "node"
    python: Annotated[str, Field(pattern=_PROGRAM)] = "python3"
    """The sandbox's interpreter, for the judge."""


class VitestOracle:
    """Runs hidden tests and judges them out of the candidate's reach."""

    version = "1"

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(VitestOptions, options, "oracle 'vitest'")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json")
        self.dependencies = (self._options.runner,)

    def find(self, request: OracleRequest) -> OracleFinding:
        """Run the tests once; what the candidate does is data."""
        if request.hidden is None:
            raise SpecError("the oracle 'vitest' has no hidden files; name the folder of its tests as `files`")
        lent = request.lend(vitest_kit())
        order = {
            "node": self._options.node,
            "runner": self._runner(request),
            "hidden": request.hidden,
            "workspace": WORKSPACE,
            "tests": self._options.tests,
            "must_fail": self._options.must_fail,
        }
        argv = (self._options.python, "-I", "-S", "-B", f"{lent}/{VERIFIER}/verify.py", json.dumps(order))
        return reported(request.check(argv, {"FARM_NONCE": request.nonce}), request, NUMBERS)

    def _runner(self, request: OracleRequest) -> str:
        wanted = self._options.runner
        for number, one in enumerate(request.task.dependencies, start=1):
            if one.target == wanted:
                return dependency_path(number, wanted)
        raise SpecError(
            f"the oracle 'vitest' needs a dependency of the task at {wanted!r}; add it under `dependencies:`"
        )


@cache
def vitest_kit() -> Kit:
    """Gather our scripts."""
    return kit_of(verifier_files(_SCRIPTS))
