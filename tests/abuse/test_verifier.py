"""G and O: what a candidate tries against its hidden tests, judged naively and by the oracle `pytest`."""

import errno
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from farm.model import OracleFinding, OracleSpec, WorkspaceMode
from tests.builders.sandbox_rooms import bubblewrap, system_python, work_root
from tests.builders.worker.farm import Farm
from worker.oracles.pytest_oracle import pytest_kit
from worker.staging.kits import ready_kit
from worker.tasks import carry

HIDDEN = {
    "test_sums.py": "from sums import add\n\n\ndef test_small():\n    assert add(1, 2) == 3\n\n\n"
    "def test_large():\n    assert add(10**9, 1) == 10**9 + 1\n",
    "test_path.py": "import colorsys\n\n\ndef test_standard():\n    assert colorsys.rgb_to_hsv(0, 0, 0)\n",
    "test_hope.py": "import pytest\n\n\n@pytest.mark.xfail\ndef test_hope():\n    assert True\n",
    "test_false.py": "from sums import add\n\n\ndef test_no_sum_is_everything():\n    assert add(1, 2) == 4\n",
}
BAD = "def add(a, b):\n    return a - b\n"
"""What every hijack is laid beside: it is wrong, so whoever calls it right was fooled."""

GOOD = {"sums.py": "def add(a, b):\n    return a + b\n"}
CONFTEST = {
    "sums.py": BAD,
    "conftest.py": "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
    "    told = yield\n    told.get_result().outcome = 'passed'\n",
}
ADDOPTS = {
    "sums.py": BAD,
    "pytest.ini": "[pytest]\naddopts = --collect-only\n",
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--collect-only"\n',
}
PRETENDS = "import os, sys\nprint('2 passed in 0.01s', flush=True)\nos._exit(0)\n"
FAKE_PYTEST = "import sys\nprint('2 passed')\n\n\ndef main(*_, **__):\n    return 0\n\n\nsys.exit(0)\n"
CALL_INFO = (
    BAD + "from _pytest.runner import CallInfo\n_real = CallInfo.from_call.__func__\n\n\n"
    "def _always(cls, func, when, reraise=None):\n    made = _real(cls, func, when, reraise)\n"
    "    made.excinfo = None\n    return made\n\n\nCallInfo.from_call = classmethod(_always)\n"
)
EQUAL = (
    "class Anything:\n    def __eq__(self, other):\n        return True\n\n    __hash__ = None\n\n\n"
    "def add(a, b):\n    return Anything()\n"
)
ATEXIT = (
    BAD + "import atexit, os\n\n\ndef _lie():\n    print('2 passed', flush=True)\n    os._exit(0)\n\n\n"
    "atexit.register(_lie)\n"
)
FORKS = (
    BAD + "import os, signal\nif os.fork() == 0:\n    os.kill(os.getppid(), signal.SIGKILL)\n"
    "    print('2 passed', flush=True)\n    os._exit(0)\nimport time\ntime.sleep(30)\n"
)
DESCRIPTORS = (
    BAD + "import os\nfor descriptor in range(3, 64):\n    try:\n"
    "        os.write(descriptor, b'{\"end\": 1}\\n')\n    except OSError:\n        pass\n"
)
PRINTS = BAD + "import os\nprint('FARM-FINDING', os.environ.get('FARM_NONCE'), '{\"correct\": true}', flush=True)\n"
KILLS = BAD + "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n"
SKIPS = "import pytest\n\n\ndef add(a, b):\n    pytest.skip('not today')\n"
LOSES = BAD + "import sys\nfor name, module in list(sys.modules.items()):\n    vars(module).pop('test_large', None)\n"
HOME_SITE = "home/.local/lib/python3.11/site-packages/evil.pth"

FOOLS: Mapping[str, Mapping[str, str]] = {
    "sitecustomize": {"sums.py": BAD, "sitecustomize.py": PRETENDS, "usercustomize.py": PRETENDS},
    "shadow of pytest": {"sums.py": BAD, "pytest.py": FAKE_PYTEST},
    "path file at home": {"sums.py": BAD, HOME_SITE: "import os; print('2 passed', flush=True); os._exit(0)\n"},
    "exit at import": {"sums.py": PRETENDS},
    "call info": {"sums.py": CALL_INFO},
    "equal to all": {"sums.py": EQUAL},
    "at exit": {"sums.py": ATEXIT},
}
"""The seven that fool who believes an exit code."""
OTHERS: Mapping[str, Mapping[str, str]] = {
    "conftest": CONFTEST,
    "addopts": ADDOPTS,
    "shadow of the standard library": {"sums.py": BAD, "json.py": PRETENDS, "ast.py": PRETENDS},
    "system exit": {"sums.py": "raise SystemExit(0)\n"},
    "forks and kills": {"sums.py": FORKS},
    "kills its judge": {"sums.py": KILLS},
    "writes to every descriptor": {"sums.py": DESCRIPTORS},
    "prints a finding": {"sums.py": PRINTS},
    "skips": {"sums.py": SKIPS},
    "removes tests": {"sums.py": LOSES},
    "result files": {"sums.py": BAD, "junit.xml": "<testsuite tests='2' failures='0'/>", "result.json": "{}"},
}


def judged(files: Mapping[str, str], **options: Any) -> Farm:
    """Let a session write `files` and the oracle judge them."""
    options = {"tests": ["test_sums.py"], "must_fail": ["test_false.py"], **options}
    farm = Farm(
        root=work_root() / "line",
        sandbox=bubblewrap(),
        script=[{"write": {"path": path, "text": text}} for path, text in files.items()],
        oracle=OracleSpec(kind="pytest", options=options, workspace=WorkspaceMode.WRITABLE, keep_output=True),
        hidden=HIDDEN,
    )
    line = farm.line()
    try:
        carry(line, farm.ticket)
    finally:
        line.close()
    return farm


def finding(farm: Farm) -> OracleFinding:
    evidence = farm.outcome().evidence
    assert evidence is not None, farm.outcome().fault
    return evidence.oracle


def naively(files: Mapping[str, str], place: Path) -> bool:
    """Do as most do: run `python -m pytest` in the workspace and believe its exit code."""
    kit = ready_kit(place.parent, place.parent, pytest_kit())
    for path, text in {**files, **{f"hidden/{name}": text for name, text in HIDDEN.items()}}.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    env = {"PATH": "/usr/bin", "HOME": "/ws/home", "PYTHONPATH": "/ws:/kit", "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(
        [
            *("bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--ro-bind", "/usr", "/usr"),
            *("--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"),
            *("--proc", "/proc", "--dev", "/dev", "--bind", place, "/ws", "--ro-bind", kit, "/kit", "--chdir", "/ws"),
            *(word for name, value in env.items() for word in ("--setenv", name, value)),
            *(system_python(), "-m", "pytest", "-q", "-p", "no:cacheprovider", "hidden/test_sums.py"),
        ],
        capture_output=True,
        check=False,
        timeout=60,
    )
    return ran.returncode == 0


@pytest.fixture
def place() -> Path:
    place = work_root() / "naive" / os.urandom(4).hex()
    place.mkdir(parents=True)
    return place


def test_a_right_answer_is_right() -> None:
    farm = judged(GOOD)
    found = finding(farm)
    assert (found.correct, found.answer_error, found.numbers["tests"]) == (True, None, 2)
    assert farm.leftovers() == []


def test_what_a_right_answer_prints_is_nobodys_finding() -> None:
    prints = "import atexit, os\natexit.register(os.write, 1, b'FARM-FINDING x {}\\n')\n"
    assert finding(judged({"sums.py": GOOD["sums.py"] + prints})).correct is True


def test_a_test_that_is_expected_to_fail_has_not_passed() -> None:
    assert finding(judged(GOOD, tests=["test_hope.py"], must_fail=[])).correct is False


def test_the_standard_library_can_not_be_shadowed() -> None:
    shadow = {"colorsys.py": "def rgb_to_hsv(*_):\n    return None\n"}
    assert finding(judged(shadow, tests=["test_path.py"], must_fail=[])).correct is True


def test_a_wrong_answer_is_wrong_by_the_names_of_its_tests() -> None:
    found = finding(judged({"sums.py": BAD}))
    assert (found.correct, found.problem) == (False, None)
    assert found.answer_error == "2 tests failed: test_sums.py::test_small, test_sums.py::test_large"


@pytest.mark.parametrize("name", [*FOOLS, *OTHERS])
def test_no_hijack_is_called_right(name: str) -> None:
    found = finding(judged({**FOOLS, **OTHERS}[name]))
    assert (found.correct, found.problem) == (False, None), found


@pytest.mark.parametrize("name", FOOLS)
def test_n_the_naive_way_is_fooled(name: str, place: Path) -> None:
    assert naively(FOOLS[name], place)


def test_n_the_naive_way_tells_plain_right_from_plain_wrong(place: Path) -> None:
    assert naively(GOOD, place / "good")
    assert not naively({"sums.py": BAD}, place / "bad")


def test_n_only_a_test_that_must_fail_sees_an_answer_that_is_equal_to_all() -> None:
    assert finding(judged({"sums.py": EQUAL}, must_fail=[])).correct is True


def test_what_changes_how_tests_are_judged_is_named() -> None:
    error = finding(judged({"sums.py": CALL_INFO}, must_fail=[])).answer_error
    assert error is not None
    assert "farm_must_fail.py" in error
    assert "must" in error


LOOKS = (
    BAD
    + """
import os
parent = os.getppid()
for path in ("environ", "mem", "fd/1", "cwd"):
    try:
        os.open(f"/proc/{parent}/{path}", os.O_RDONLY)
        print("SAW", path)
    except OSError as error:
        print("LOOK", path, type(error).__name__)
raise RuntimeError
"""
)


def test_the_judge_can_not_be_read_by_the_candidate() -> None:
    said = judged({"sums.py": LOOKS}).artifact("oracle.stderr").decode()
    assert [line for line in said.splitlines() if line.startswith(("SAW", "LOOK"))][:4] == [
        f"LOOK {path} PermissionError" for path in ("environ", "mem", "fd/1", "cwd")
    ]


WRITES = """
import os, sys
hidden = next(path for path in sys.path if path.startswith("/cell/.o-"))
test = f"{hidden}/test_sums.py"
tries = {
    "write": lambda: os.open(test, os.O_WRONLY),
    "append": lambda: os.open(test, os.O_WRONLY | os.O_APPEND),
    "chmod": lambda: os.chmod(test, 0o777),
    "unlink": lambda: os.unlink(test),
    "create": lambda: os.open(f"{hidden}/new", os.O_WRONLY | os.O_CREAT),
    "rename": lambda: os.rename(test, f"{hidden}/other"),
    "utime": lambda: os.utime(test),
    "link": lambda: os.link(test, "/cell/ws/mine"),
    "setxattr": lambda: os.setxattr(test, "user.x", b""),
    "root": lambda: os.open(f"/proc/self/root{test}", os.O_WRONLY),
    "kit": lambda: os.open("/cell/kit/new", os.O_WRONLY | os.O_CREAT),
}
for name, attempt in tries.items():
    try:
        attempt()
        print("DID", name)
    except OSError as error:
        print("TRY", name, error.errno)
raise RuntimeError
"""


def test_o2_the_hidden_files_and_the_kit_are_read_only() -> None:
    said = judged({"sums.py": WRITES}).artifact("oracle.stderr").decode()
    tried = {line.split()[1]: int(line.split()[2]) for line in said.splitlines() if line.startswith("TRY")}
    assert "DID" not in said
    assert len(tried) == 11
    assert set(tried.values()) <= {errno.EROFS, errno.EACCES, errno.EXDEV, errno.EPERM}


def test_a_check_that_can_not_be_made_is_no_wrong_answer() -> None:
    found = finding(judged(GOOD, tests=["test_none.py"]))
    assert found.correct is None
    assert found.problem is not None
    assert "test_none.py" in found.problem


def test_one_named_test_of_a_file_is_enough() -> None:
    found = finding(judged({"sums.py": "def add(a, b):\n    return 3\n"}, tests=["test_sums.py::test_small"]))
    assert (found.correct, found.numbers["tests"]) == (True, 1)
