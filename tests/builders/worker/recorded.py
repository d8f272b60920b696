"""Recorded streams of real agents: fed to a parser as they came, with the exit that they had."""

import json
from pathlib import Path

from farm.model import Cell, Digest, ExitKind, OracleSpec, ProcessExit, SessionReport, Snapshot, Task
from sandbox.spec import Stream
from worker.session import Agent, SessionRequest

DATA = Path(__file__).parents[2] / "data" / "agents"
_DIGEST = Digest.of(b"")
_SNAPSHOT = Snapshot(commit="0" * 40, tree=_DIGEST, size_bytes=0)
_TASK = Task(id="fix", snapshot=_SNAPSHOT, prompt=_DIGEST, oracle=OracleSpec(kind="answer"))


def recordings(prefix):
    """Name the recordings of one agent."""
    return sorted(path.stem for path in DATA.glob(f"{prefix}*"))


def a_request(prompt="Fix it.", instructions=None, wire=None):
    return SessionRequest("work", Cell(task="fix", arm="base", trial=1), _TASK, prompt, instructions, wire)


def exited(code):
    """Say how a process ended in the words of Python's subprocess: a negative code is a signal; None: we stopped it."""
    if code is None:
        return ProcessExit(kind=ExitKind.STOPPED, wall_s=1.0)
    if code < 0:
        return ProcessExit(kind=ExitKind.SIGNALED, signal=-code, wall_s=1.0)
    return ProcessExit(kind=ExitKind.EXITED, code=code, wall_s=1.0)


def played(agent: Agent, name: str, exit_: ProcessExit | None = None, chunk: int = 4096) -> SessionReport:
    """Play the recording `name` to a parser of `agent`."""
    (recording,) = DATA.glob(f"{name}.*")
    first, _, stream = recording.read_bytes().partition(b"\n")
    facts = json.loads(first)
    return heard(agent, stream, exit_ or exited(facts["exit_code"]), stderr=facts["stderr"].encode(), chunk=chunk)


def heard(agent, stdout, exit_=None, *, stderr=b"", chunk=4096) -> SessionReport:
    """Feed output to a parser of `agent`."""
    parser = agent.parser("work")
    parser.feed(Stream.STDERR, stderr)
    for start in range(0, len(stdout), chunk):
        parser.feed(Stream.STDOUT, stdout[start : start + chunk])
    return parser.finish(exit_ or exited(0))


def lines(*events) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)
