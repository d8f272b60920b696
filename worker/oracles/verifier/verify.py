"""The process that judges: it never imports the candidate, and the candidate can't read or write into it.

It starts `run_tests` (of pytest, or of Vitest where the order names a node) and reads its records from a pipe. It says
"right" only if every test that the hidden files hold, by their source or by the order's own list, ran and passed, every
test that must fail failed, and the run came to its own end. Its standard output is nobody else's, and nobody else knows
the nonce in it.
"""

import ast
import ctypes
import json
import os
import re
import secrets
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_SET_DUMPABLE = 4
_MOST_BYTES = 16 << 20
_MOST_NAMED = 5
_TICK_S = 0.05
_CANARY = "farm_must_fail.py"
_NODE_CANARY = "farm_must_fail.test.mjs"
_SOME_FAILED = 1
"""How pytest ends a run in which all that must fail failed."""


class BrokenCheckError(Exception):
    """The check itself can't be made: its hidden files are not what its options say."""


@dataclass(frozen=True)
class Wanted:
    """One test by its file and its name; one without a parameter stands for all of its parameters."""

    file: str
    name: str

    @property
    def label(self) -> str:
        """Give the name by which people know it."""
        return f"{self.file}::{self.name}"

    def is_met_by(self, file: str, name: str) -> bool:
        return file == self.file and (name == self.name or name.startswith(f"{self.name}["))


@dataclass
class Run:
    """What the records of a run say."""

    phases: dict[Wanted, dict[str, str]] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    is_ready: bool = False
    is_ended: bool = False
    is_forged: bool = False

    def note(self, test: Wanted, when: str, outcome: str) -> None:
        """Keep what one phase came to; nothing honest tells of it twice."""
        phases = self.phases.setdefault(test, {})
        self.is_forged |= when in phases
        phases[when] = outcome


@dataclass(frozen=True)
class Expected:
    """What must pass and what must fail, by the hidden files' source."""

    passing: list[Wanted]
    failing: list[Wanted]


Command = Callable[[int], list[str]]
"""Gives the argv of what runs the tests, and tells of them at the given descriptor."""


def wanted_of(entry: str, folder: Path) -> list[Wanted]:
    """List the tests that an entry names: a file, or `file::name`, by the source of the hidden file."""
    file, _, name = entry.partition("::")
    try:
        tree = ast.parse((folder / file).read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise BrokenCheckError(f"the hidden test file {file!r} can't be read: {error}") from error
    names = list(_tests_in(tree.body, ""))
    if not name:
        if not names:
            raise BrokenCheckError(f"the hidden test file {file!r} holds no test")
        return [Wanted(file, one) for one in names]
    plain = name.partition("[")[0]
    inside = [one for one in names if one == plain or one.startswith(f"{plain}::")]
    if not inside:
        raise BrokenCheckError(f"the hidden test file {file!r} holds no test {plain!r}")
    return [Wanted(file, name if one == plain else one) for one in inside]


def _tests_in(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield prefix + node.name
        elif isinstance(node, ast.ClassDef) and _holds_tests(node):
            yield from _tests_in(node.body, f"{prefix}{node.name}::")


def _holds_tests(node: ast.ClassDef) -> bool:
    return node.name.startswith("Test") or any(ast.unparse(base).endswith("TestCase") for base in node.bases)


def by_pytest(order: dict[str, Any]) -> Command:
    """Give the command that runs the order's tests in Python."""
    here = Path(__file__).parent
    tests = [f"{order['hidden']}/{entry}" for entry in dict.fromkeys((*order["tests"], *order["must_fail"]))]
    told = {**order, "tests": [*tests, str(here / _CANARY)], "ini": str(here / "pytest.ini")}
    del told["must_fail"]
    script = [sys.executable, "-I", "-S", "-B", str(here / "run_tests.py")]
    return lambda descriptor: [*script, json.dumps({**told, "descriptor": descriptor})]


def by_vitest(order: dict[str, Any]) -> Command:
    """Give the command that runs the order's tests in JavaScript or TypeScript."""
    told = {name: order[name] for name in ("runner", "hidden", "workspace")}
    told["files"] = [*dict.fromkeys((*order["tests"], *order["must_fail"]))]
    script = [order["node"], str(Path(__file__).parent / "run_tests.mjs")]
    return lambda descriptor: [*script, json.dumps({**told, "descriptor": descriptor})]


def run(command: Command) -> Run:
    """Run the tests in a process of their own and read its records to its end."""
    token = secrets.token_hex(16)
    ours, theirs = os.pipe()
    child = subprocess.Popen(  # noqa: S603 (our own script, by an interpreter that the task names)
        command(theirs),
        stdin=subprocess.PIPE,
        stdout=2,
        pass_fds=(theirs,),
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # noqa: TID251 (inside the sandbox, ours by list)
    )
    os.close(theirs)
    if child.stdin is not None:
        child.stdin.write(token.encode() + b"\n")
        child.stdin.close()
    return _read(_records(ours, child), token)


def _records(descriptor: int, child: "subprocess.Popen[bytes]") -> bytes:
    """Read until the child has ended: whom it left behind has no say."""
    said = bytearray()
    os.set_blocking(descriptor, False)
    is_over = False
    while not is_over:
        is_over = child.poll() is not None
        select.select([descriptor], [], [], 0 if is_over else _TICK_S)
        try:
            while len(said) <= _MOST_BYTES and (part := os.read(descriptor, 1 << 16)):
                said += part
        except BlockingIOError:
            continue
        if not is_over:  # the pipe is closed, or too much was said
            if len(said) > _MOST_BYTES:
                child.kill()
            child.wait()
            is_over = True
    return bytes(said)


def _read(said: bytes, token: str) -> Run:
    found = Run()
    for line in said.splitlines():
        try:
            record = json.loads(line)
            is_ours = secrets.compare_digest(str(record["token"]), token) and not found.is_ended
        except (ValueError, TypeError, KeyError):
            is_ours, record = False, {}
        if not is_ours:
            found.is_forged = True
        elif "ready" in record:
            found.is_ready = True
        elif "broken" in record:
            found.broken.append(str(record["broken"]))
        elif "end" in record:
            found.is_ended = record["end"] == _SOME_FAILED
        else:
            test = Wanted(str(record.get("file")), str(record.get("name")))
            found.note(test, str(record.get("when")), str(record.get("outcome")))
    return found


def complaint(found: Run, expected: Expected) -> str | None:
    """Say why the answer is not right; None when it is."""
    if found.is_forged:
        return "the record of the test run was tampered with"
    if found.broken:
        return f"these could not be imported: {_some(found.broken)}"
    for test, phases in found.phases.items():
        if _is_among(test, expected.failing) and phases.get("call", "failed") != "failed":
            return f"{test.label} did not fail, as it must: the candidate changes how tests are judged"
    if not found.is_ended:
        return "the test run ended before its end"
    missing = [one.label for one in expected.passing if not _ran(one, found, "setup")]
    missing += [one.label for one in expected.failing if not _ran(one, found, "call")]
    if missing:
        return f"these tests did not run: {_some(missing)}"
    failed = [test.label for test in found.phases if not _is_among(test, expected.failing) and not _passed(test, found)]
    count = f"{len(failed)} test{'s' * (len(failed) != 1)}"
    return f"{count} failed: {_some(failed)}" if failed else None


def _ran(one: Wanted, found: Run, phase: str) -> bool:
    return any(one.is_met_by(test.file, test.name) and phase in phases for test, phases in found.phases.items())


def _passed(test: Wanted, found: Run) -> bool:
    return found.phases[test] == {"setup": "passed", "call": "passed", "teardown": "passed"}


def _is_among(test: Wanted, wanted: list[Wanted]) -> bool:
    return any(one.is_met_by(test.file, test.name) for one in wanted)


def _some(names: list[str]) -> str:
    rest = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def judge(order: dict[str, Any]) -> dict[str, Any]:
    """Run the order and give the finding."""
    try:
        expected = listed(order) if "node" in order else read_from_source(order)
    except BrokenCheckError as error:
        return {"correct": None, "problem": str(error)}
    if not expected.passing:
        return {"correct": None, "problem": "no test is left that must pass"}
    try:
        found = run(by_vitest(order) if "node" in order else by_pytest(order))
    except OSError as error:
        return {"correct": None, "problem": f"the tests can't be started: {error}"}
    if not found.is_ready:
        return {
            "correct": None,
            "problem": "the test runner could not be started in the sandbox; see the check's stderr",
        }
    wrong = complaint(found, expected)
    numbers = {"tests": len(expected.passing), "tests_run": len(found.phases)}
    return {"correct": wrong is None, "error": wrong and wrong[:2000], "numbers": numbers}


def read_from_source(order: dict[str, Any]) -> Expected:
    """Read from the hidden files which tests there are; our own that must fail are among the failing ones."""
    hidden, here = Path(order["hidden"]), Path(__file__).parent
    failing = [one for entry in order["must_fail"] for one in wanted_of(entry, hidden)]
    named = [one for entry in order["tests"] for one in wanted_of(entry, hidden)]
    canaries = [Wanted(os.path.relpath(here / _CANARY, hidden), one.name) for one in wanted_of(_CANARY, here)]
    return Expected([one for one in named if not _is_among(one, failing)], [*failing, *canaries])


def listed(order: dict[str, Any]) -> Expected:
    """Take the tests from the order itself, which names each; our own that must fail are among the failing ones."""
    hidden, canary = Path(order["hidden"]), Path(__file__).parent / _NODE_CANARY
    for file in (*order["tests"], *order["must_fail"]):
        if not (hidden / file).is_file():
            raise BrokenCheckError(f"there is no hidden test file {file!r}")
    passing, failing = (
        [Wanted(file, name) for file, names in order[which].items() for name in names]
        for which in ("tests", "must_fail")
    )
    names = re.findall(r"^test\('([^']+)'", canary.read_text(), re.MULTILINE)
    return Expected(passing, [*failing, *(Wanted(os.path.relpath(canary, hidden), name) for name in names)])


def main() -> None:
    """Judge the order in argv and print the finding."""
    nonce = os.environ.pop("FARM_NONCE")  # noqa: TID251 (told to the check this way)
    # From here on nobody of our user can read our memory, our environment or our descriptors.
    if ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise SystemExit("the verifier could not close itself to the candidate")
    print(f"FARM-FINDING {nonce} {json.dumps(judge(json.loads(sys.argv[1])))}", flush=True)  # noqa: T201 (the finding)


if __name__ == "__main__":
    main()
