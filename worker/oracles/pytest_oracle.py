"""The oracle `pytest`: hidden tests in Python, run where the candidate's code has the least to say about their outcome.

The interpreter is isolated (`-I -S -B`) and the pytest is the worker's own, laid into the sandbox read-only, so that no
file of the workspace can take their place or configure them. A process that never imports the candidate judges: every
test in the hidden files' source must have run and passed, tests of ours that must fail must have failed, and so must
those of `must_fail`, which a task writes against answers that are equal to everything.

Hidden tests see the workspace's packages through `import_from`, the hidden folder's own modules, and what is installed
for the sandbox's interpreter. There are no conftest.py, plug-ins or configuration. A test that is skipped or expected
to fail has not passed. What remains: code in the tests' own process that knows this verifier could lie for itself.
"""

import json
from functools import cache
from importlib import metadata
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

from farm.errors import SpecError, TransientError
from farm.model import OracleFinding, RelativePath, Value
from worker.options import checked
from worker.oracles.finding_line import reported
from worker.oracles.verifier_kit import NUMBERS, VERIFIER, kit_of, verifier_files
from worker.session import WORKSPACE, Kit, OracleRequest

_DISTRIBUTIONS = ("pytest", "iniconfig", "packaging", "pluggy", "pygments")
_SCRIPTS = ("verify.py", "run_tests.py", "farm_must_fail.py")
_INI = b"[pytest]\n"


def _checked_entry(entry: str) -> str:
    path, _, name = entry.partition("::")
    if not path.endswith(".py") or (not name and "::" in entry) or any(char in path for char in "\n[\r"):
        raise ValueError(f"{entry!r} names no test file; write tests/test_it.py or tests/test_it.py::test_name")
    return entry


Entry = Annotated[RelativePath, AfterValidator(_checked_entry)]


class PytestOptions(Value):
    """What to run: files in the hidden folder, or tests in them."""

    tests: Annotated[tuple[Entry, ...], Field(min_length=1)]
    must_fail: tuple[Entry, ...] = ()
    """Hidden tests that claim something false of a right answer: one that passes shows an answer that fits anything."""
    import_from: tuple[RelativePath, ...] = (".",)
    """Folders of the workspace from which the tests import."""
    python: Annotated[str, Field(pattern=r"^(/usr/[A-Za-z0-9._+/-]+|[A-Za-z0-9][A-Za-z0-9._+-]*)$")] = "python3"
    """The sandbox's interpreter; only its version and its installed packages matter."""


class PytestOracle:
    """Runs hidden tests and judges them out of the candidate's reach."""

    version = "1"

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(PytestOptions, options, "oracle 'pytest'")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json")

    def find(self, request: OracleRequest) -> OracleFinding:
        """Run the tests once; what the candidate does is data."""
        if request.hidden is None:
            raise SpecError("the oracle 'pytest' has no hidden files; name the folder of its tests as `files`")
        options, lent = self._options, request.lend(pytest_kit())
        order = {
            "kit": lent,
            "hidden": request.hidden,
            "tests": options.tests,
            "must_fail": options.must_fail,
            "import_from": [f"{WORKSPACE}/{PurePosixPath(folder)}" for folder in options.import_from],
        }
        argv = (options.python, "-I", "-S", "-B", f"{lent}/{VERIFIER}/verify.py", json.dumps(order))
        result = request.check(argv, {"FARM_NONCE": request.nonce})
        return reported(result, request, NUMBERS)


@cache
def pytest_kit() -> Kit:
    """Gather this host's pytest and our scripts; raise TransientError where no pytest is installed."""
    files = {f"{VERIFIER}/pytest.ini": _INI} | verifier_files(_SCRIPTS)
    for name in _DISTRIBUTIONS:
        files |= _sources_of(name)
    return kit_of(files)


def _sources_of(name: str) -> dict[str, bytes]:
    try:
        listed = metadata.files(name)
    except metadata.PackageNotFoundError as error:
        raise TransientError(
            f"{name} is not installed on this host, and the oracle 'pytest' needs it; install cellfarm[pytest]"
        ) from error
    sources = (path for path in listed or () if path.suffix == ".py" and ".." not in path.parts)
    return {path.as_posix(): path.read_binary() for path in sources}
