"""Sweep files, repositories and plug-ins for tests of planning."""

import io
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from farm.adapters.memory.store import MemoryBlobs
from farm.errors import SpecError
from farm.model import Plan, Wire
from farm.planning import plan_sweep
from farm.plugins import Plugins
from worker.session import AgentProgram

ENV = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
}

SWEEP = """\
name: demo
tasks:
  - id: bug
    repository: {path: repo}
    prompt: Fix the bug.
    oracle: {kind: check, files: oracle}
arms:
  - name: baseline
    role: incumbent
    agent: {kind: robot}
  - name: fresh
    role: candidate
    agent: {kind: robot}
    overlay: {files: laid, boundary: [docs/**], instructions: [base.md, more.md]}
trials: 2
"""


class Plugin:
    """An agent, program or oracle that takes any option but `wrong`."""

    version = "7"
    wires: tuple[Wire, ...] = ()
    program: AgentProgram | None = None
    assets: tuple[str, ...] = ()

    def __init__(self, options: dict[str, JsonValue]) -> None:
        if "wrong" in options:
            raise SpecError("the option 'wrong' is not known here")
        self.options = options


class AskingPlugin(Plugin):
    """An agent that asks a model."""

    wires = (Wire.ANTHROPIC,)
    program = AgentProgram("asking", "1.2.3")


class ServedPlugin(Plugin):
    """An agent whose options name an asset."""

    assets = ("tools",)


class DependingOracle(Plugin):
    """An oracle whose program is one of the task's dependencies."""

    dependencies = ("node_modules",)


class ExecutingOracle(Plugin):
    """An oracle that starts a hidden file."""

    executes = ("bin/check",)


class CountingGate:
    """A gate that needs the metric that its options name."""

    name = "counting"
    version = "3"

    def policy(self, options: dict[str, JsonValue], tasks: tuple[str, ...]) -> dict[str, JsonValue]:
        if "metric" not in options:
            raise SpecError("gate counting needs a metric")
        return {"metric": options["metric"], "tasks": list(tasks)}

    def needed_metrics(self, policy: dict[str, JsonValue]) -> tuple[str, ...]:
        return (str(policy["metric"]),)


def plugins(**more: Mapping[str, Callable[..., Any]]) -> Plugins:
    """Give a registry of doubles, with `more` groups added or replaced."""
    doubles: dict[str, Mapping[str, Callable[..., Any]]] = {
        "agents": {"robot": Plugin, "asking": AskingPlugin, "served": ServedPlugin},
        "programs": {"single": Plugin},
        "oracles": {"check": Plugin, "depending": DependingOracle, "executing": ExecutingOracle},
        "gates": {"counting": CountingGate},
        "sandboxes": {"bubblewrap": Plugin},
    }
    return Plugins(doubles | more)


def git(folder: Path, *args: str, stdin: bytes = b"") -> str:
    """Run git as a person would."""
    done = subprocess.run(["git", "-C", str(folder), *args], env=ENV, input=stdin, capture_output=True, check=True)
    return done.stdout.decode().strip()


def a_repository(folder: Path, files: Mapping[str, str] | None = None) -> str:
    """Make a repository of one commit and return the commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for name, text in ({"a.txt": "one\n"} if files is None else files).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "first")
    return git(folder, "rev-parse", "HEAD")


def a_sweep(folder: Path, text: str = SWEEP) -> Path:
    """Lay out a whole sweep below `folder` and return its file."""
    a_repository(folder / "repo")
    (folder / "oracle").mkdir()
    (folder / "oracle" / "check.py").write_text("print('ok')\n")
    (folder / "laid" / "docs").mkdir(parents=True)
    (folder / "laid" / "docs" / "hint.md").write_text("A hint.\n")
    (folder / "base.md").write_text("Inherited.\n")
    (folder / "more.md").write_text("\nOwn.\n\n")
    (folder / "sweep.yaml").write_text(text)
    return folder / "sweep.yaml"


def planned(file: Path, blobs: MemoryBlobs | None = None, known: Plugins | None = None) -> Plan:
    """Plan a sweep file with doubles."""
    return plan_sweep(file, MemoryBlobs() if blobs is None else blobs, plugins() if known is None else known)


def files_in(body: bytes) -> tuple[str, ...]:
    """List what is no folder in a tar."""
    with tarfile.open(fileobj=io.BytesIO(body), mode="r:") as members:
        return tuple(member.name for member in members if not member.isdir())


def refused(file: Path, blobs: MemoryBlobs | None = None) -> str:
    """Plan, and give the complaint, with no place of this machine in it."""
    with pytest.raises(SpecError) as caught:
        planned(file, blobs)
    return str(caught.value).replace(str(file.parent) + "/", "")
