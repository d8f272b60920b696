"""An agent's tools have no network at all, while the agent in the same session has its door."""

import json
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from farm.model import Cell, Digest, Limits, OracleSpec, SessionReport, Snapshot, Task
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.spec import Door, Exit, Sandbox, SandboxSpec, Sink, Stream
from tests.builders.doors import answering
from tests.builders.sandbox_rooms import system_python
from tests.builders.worker.doubles import HookedSandbox
from worker.agents.scripted import ScriptedAgent
from worker.cell.boxes import Boxes, SessionBox, process_exit
from worker.cell.carrying import lay_home_files
from worker.session import SessionRequest
from worker.staging.ground import Ground
from worker.trees.copying import Ownership, give

REACH = """
import json, socket, sys
def reach(family, place):
    try:
        with socket.socket(family) as caller:
            caller.settimeout(5)
            caller.connect(place)
            caller.sendall(b"hello\\n")
            return caller.recv(8).decode()
    except OSError as error:
        return type(error).__name__
ends = [reach(socket.AF_UNIX, "/run/model.sock"), reach(socket.AF_INET, ("127.0.0.1", 8080))]
print(json.dumps([sys.argv[1], *ends]))
"""
BOTH = ["welcome\n", "welcome\n"]
NEITHER = ["FileNotFoundError", "ConnectionRefusedError"]
DIGEST = Digest.of(b"")
TASK = Task(
    id="fix",
    snapshot=Snapshot(commit="0" * 40, tree=DIGEST, size_bytes=0),
    prompt=DIGEST,
    oracle=OracleSpec(kind="answer"),
    limits=Limits(wall_s=30.0),
)


def reach(who: str) -> str:
    return f"{system_python()} -I -S -c {shlex.quote(REACH)} {who}"


class DooredSandbox(HookedSandbox):
    """A real sandbox all of whose runs have the door."""

    def __init__(self, real: Sandbox, door: Door) -> None:
        super().__init__(real, lambda _number, _spec: None)
        self._door = door

    def run(self, spec: SandboxSpec, sink: Sink, stop: Callable[[], bool]) -> Exit:
        return super().run(replace(spec, door=self._door), sink, stop)


@pytest.fixture
def door(bubblewrap: Bubblewrap) -> Iterator[Door]:
    with answering(bubblewrap.owner(0)) as opened:
        yield opened


@pytest.fixture
def boxes(bubblewrap: Bubblewrap, work_root: Path, door: Door) -> Iterator[Boxes]:
    ground = Ground(work_root)
    folder = ground.cell(Ownership(*bubblewrap.owner(0)))
    folder.prepare()
    folder.workspace.mkdir(mode=0o700)
    give(folder.workspace, folder.owner)
    sandbox = DooredSandbox(bubblewrap, door)
    yield Boxes(sandbox, 0, folder, lambda: False)
    ground.close()


def replayed(boxes: Boxes, *script: dict[str, Any]) -> tuple[SessionReport, dict[str, list[str]]]:
    """Run a script as a session; give its report and what each of its commands could reach."""
    agent = ScriptedAgent({"scripts": {"*": list(script)}})
    launch = agent.launch(SessionRequest("work", Cell(task="fix", arm="base", trial=1), TASK, "Fix it.", None))
    home = boxes.folder.new_home()
    lay_home_files(launch, home, boxes.folder.owner)
    parser, said = agent.parser("work"), {stream: bytearray() for stream in Stream}

    def sink(stream: Stream, chunk: bytes) -> None:
        said[stream] += chunk
        parser.feed(stream, chunk)

    report = parser.finish(process_exit(boxes.run_session(SessionBox(launch, home, TASK.limits), sink)))
    lines = [json.loads(line) for line in said[Stream.STDERR].decode().splitlines()]
    return report, {who: ends for who, *ends in lines}


def test_a_tool_reaches_neither_the_socket_nor_the_port_while_its_agent_reaches_both(boxes: Boxes) -> None:
    report, reached = replayed(
        boxes,
        {"run": {"command": reach("agent")}},
        {"tool_run": {"command": reach("tool")}},
        {"run": {"command": reach("agent-again")}},
    )
    assert reached == {"agent": BOTH, "tool": NEITHER, "agent-again": BOTH}
    assert (report.reason, report.tool_calls, report.turns) == ("success", {"shell": 1}, 1)


def test_without_the_tool_room_the_same_command_reaches_both(boxes: Boxes) -> None:
    _, reached = replayed(boxes, {"run": {"command": reach("tool")}})
    assert reached == {"tool": BOTH}


def test_a_tool_works_on_the_sessions_workspace(boxes: Boxes) -> None:
    report, _ = replayed(
        boxes,
        {"write": {"path": "a.txt", "text": "one"}},
        {"tool_run": {"command": "cat a.txt a.txt >b.txt"}},
        {"run": {"command": "grep -qx oneone b.txt", "must_succeed": True}},
    )
    assert report.reason == "success"


def test_a_sessions_folder_keeps_no_socket(boxes: Boxes) -> None:
    replayed(boxes, {"tool_run": {"command": "true"}})
    assert [entry for entry in boxes.folder.path.iterdir() if entry.is_socket()] == []
