"""Repositories that nobody wrote for us: published source distributions, fetched when the test runs."""

import json
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders.farm_command import Desk, committed

ARMS = """\
arms:
  - {{name: only, role: control, agent: {{kind: scripted, scripts: {{"*": {script}}}}}}}
"""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A distribution, and a task on it with a script that solves it."""

    pin: str
    task: str
    script: str


SIX = Foreign(
    pin="six==1.17.0",
    task="""
    prompt: Which version does six.py state? Answer as JSON text.
    allowed_changes: []
    oracle: {kind: answer, expected: 1.17.0}
""",
    script='[{run: {command: "grep __version__ six.py", must_succeed: true}}, {answer: {json: 1.17.0}}]',
)
TOML = Foreign(
    pin="toml==0.10.2",
    task="""
    prompt: Add a function answer() to toml/__init__.py that gives 42.
    allowed_changes: [toml/__init__.py]
    oracle:
      kind: command
      argv: [python3, -B, -c, "import sys; sys.path.insert(0, '.'); import toml; sys.exit(toml.answer() != 42)"]
""",
    script='[{append: {path: toml/__init__.py, text: "\\n\\ndef answer():\\n    return 42\\n"}}]',
)


def unpacked(pin: str, folder: Path) -> Path:
    """Download and unpack a source distribution."""
    fetch = (sys.executable, "-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps", "-d", str(folder), pin)
    done = subprocess.run(fetch, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.mark.parametrize("foreign", [SIX, TOML], ids=["six", "toml"])
def test_a_task_on_a_published_source_runs_end_to_end(foreign: Foreign, desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "download").mkdir()
    repository = committed(unpacked(foreign.pin, tmp_path / "download"))
    head = f"name: foreign\ntasks:\n  - id: one\n    repository: {{path: {repository}, ref: main}}{foreign.task}"
    (desk.here / "sweep.yaml").write_text(head + ARMS.format(script=foreign.script))

    ran = desk.farm("run", "sweep.yaml")
    assert ran.code == 0, ran
    (outcome,) = (desk.here / ".farm" / "store").glob("sweeps/*/attempts/one.only.1/1/outcome.json")
    evidence = json.loads(outcome.read_bytes())["evidence"]
    assert evidence["oracle"]["correct"] is True
    assert evidence["scope"] == {"before_oracle": [], "after_oracle": []}
