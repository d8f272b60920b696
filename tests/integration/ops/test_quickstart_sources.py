"""The quickstart's repositories come from readable sources, and its oracles tell right from wrong."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

QUICKSTART = Path(__file__).parents[3] / "ops" / "examples" / "quickstart"
BUNDLES = sorted((QUICKSTART / "repositories").glob("*.bundle"))


def output(*command: str, cwd: Path = QUICKSTART) -> str:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def checkout(repository: str, folder: Path) -> Path:
    output("git", "clone", "--quiet", "--branch", "main", f"repositories/{repository}.bundle", str(folder))
    return folder


def exit_of_oracle(task: str, workspace: Path) -> int:
    check = QUICKSTART / "oracles" / task / "check.py"
    return subprocess.run(["/usr/bin/python3", "-B", "-s", check], cwd=workspace, check=False).returncode


def test_the_build_script_gives_the_commits_that_are_checked_in(tmp_path: Path) -> None:
    output(sys.executable, "build.py", str(tmp_path))
    heads = {bundle.name: output("git", "bundle", "list-heads", str(bundle)) for bundle in BUNDLES}
    assert {bundle.name: output("git", "bundle", "list-heads", str(bundle)) for bundle in tmp_path.iterdir()} == heads
    assert len(heads) == 3


@pytest.mark.parametrize(("repository", "task"), [("latency", "fix-percentile"), ("ledger", "add-months")])
def test_an_oracle_refuses_the_untouched_repository_and_accepts_the_reference(
    repository: str, task: str, tmp_path: Path
) -> None:
    workspace = checkout(repository, tmp_path / "ws")
    before = exit_of_oracle(task, workspace)
    shutil.copytree(QUICKSTART / "reference" / task, workspace, dirs_exist_ok=True)
    assert (before, exit_of_oracle(task, workspace)) == (1, 0)


@pytest.mark.parametrize(("repository", "task"), [("latency", "fix-percentile"), ("ledger", "add-months")])
def test_code_that_exits_at_import_does_not_pass(repository: str, task: str, tmp_path: Path) -> None:
    workspace = checkout(repository, tmp_path / "ws")
    (workspace / repository / "__init__.py").write_text("import os\nos._exit(0)\n")
    assert exit_of_oracle(task, workspace) == 1


def test_the_expected_settings_are_what_the_code_reads(tmp_path: Path) -> None:
    """The answer in the oracle is checked against the program itself, by watching what it asks the environment for."""
    workspace = checkout("beacon", tmp_path / "ws")
    program = """
import collections, json, os, sys
sys.path.insert(0, ".")
asked = {}
class Watched(collections.UserDict):
    def get(self, name, default=None):
        asked[name] = default
        return "http://127.0.0.1:1/" if default is None else default
os.environ = Watched()
os.getenv = os.environ.get
from beacon import alert, history, poll
try:
    alert.send("site")
except OSError:  # nobody listens on port 1; all settings were asked for by then
    pass
print(json.dumps(asked))
"""
    asked = json.loads(output("/usr/bin/python3", "-I", "-B", "-c", program, cwd=workspace))
    assert asked == json.loads((QUICKSTART / "reference" / "find-settings" / "answer.json").read_text())
