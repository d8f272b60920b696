"""What is skipped at home fails in CI."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TESTS = """
import pytest

def test_skips():
    pytest.skip("no such service")

@pytest.mark.skipif(True, reason="another machine's")
def test_is_not_for_here():
    pass

@pytest.mark.xfail
def test_is_hoped_for():
    assert False

def test_runs():
    pass
"""


@pytest.mark.parametrize(
    ("ci", "ended"), [("", "1 passed, 2 skipped, 1 xfailed"), ("true", "2 failed, 1 passed, 1 error")]
)
def test_a_skip_at_home_is_a_failure_in_ci(ci: str, ended: str, tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    argv = (sys.executable, "-m", "pytest", "-q", "-p", "tests.services.no_skips", "-p", "no:randomly", str(tmp_path))
    env = os.environ | {"CI": ci, "PYTHONPATH": str(ROOT)}  # noqa: TID251 (a test starts programs as a shell would)
    ran = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert ended in ran.stdout, ran.stdout
    assert ("no such service" in ran.stdout) == bool(ci)
