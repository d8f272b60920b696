"""The server room: what a session starts there answers it by its streams, and changes and learns nothing else."""

import json
import os
import secrets
import shlex
from dataclasses import replace

import pytest

from sandbox.spec import Bind, ExitKind, ServerRoom, ToolRoom
from sandbox.testing import Heard, script
from tests.builders.doors import answering
from tests.builders.sandbox_rooms import a_backend, system_python, work_root

TRY = """
import json, os, socket, sys
def reach(family, place):
    try:
        with socket.socket(family) as caller:
            caller.settimeout(5)
            caller.connect(place)
            caller.sendall(b"hello\\n")
            return caller.recv(8).decode()
    except OSError as error:
        return type(error).__name__
def write(path):
    try:
        with open(path, "w") as file:
            file.write("x")
    except OSError as error:
        return os.strerror(error.errno)
    return "written"
print(json.dumps({
    "door": [reach(socket.AF_UNIX, "/run/model.sock"), reach(socket.AF_INET, ("127.0.0.1", 8080))],
    "read": open("in").read(),
    "writes": [write("made"), write(os.path.expanduser("~/made")), write("/tmp/made")],
    "environment": sorted(os.environ),
    "key": os.environ.get("KEY"),
    "interfaces": sorted(name for _, name in socket.if_nameindex()),
}))
"""
TRYING = f"{system_python()} -I -S -c {shlex.quote(TRY)}"
OPEN = {"door": ["welcome\n"] * 2, "key": "secret", "writes": ["written"] * 3}
SEALED = {
    "door": ["FileNotFoundError", "ConnectionRefusedError"],
    "key": None,
    "writes": ["Read-only file system", "written", "written"],
}


@pytest.fixture(params=["native", "python", "docker"])
def backend(request):
    return a_backend(request)


@pytest.fixture
def folder(backend):
    place = work_root() / f"session-{secrets.token_hex(4)}"
    place.mkdir()
    for name in ("ws", "home"):
        (place / name).mkdir(mode=0o700)
        os.chown(place / name, *backend.owner(0))
    return place


def run(backend, folder, text, **changes):
    """Run a session's shell script with a server room beside it; give its end and what it said."""
    workspace = Bind(folder / "ws", "/cell/ws", writable=True)
    home = Bind(folder / "home", "/home/agent", writable=True)
    spec = replace(script(text, workspace, home), servers=ServerRoom(folder / "servers"), cwd="/cell/ws", **changes)
    heard = Heard()
    exit_ = backend.run(spec, heard, lambda: False)
    assert (exit_.kind, exit_.code) == (ExitKind.EXITED, 0), heard.stderr
    return exit_, heard.stdout.decode()


def test_a_server_has_no_door_and_no_key_and_writes_nothing_that_its_session_sees(backend, folder):
    with answering(backend.owner(0)) as door:
        text = f"echo one >in; {TRYING}; rm made; /.server {TRYING}; ls"
        _, said = run(backend, folder, text, door=door, env={"KEY": "secret"})
    own, served, *listed = said.splitlines()
    own, served = json.loads(own), json.loads(served)
    assert {name: own[name] for name in OPEN} == OPEN
    assert {name: served[name] for name in SEALED} == SEALED
    engines = ["HOSTNAME"] if backend.facts()["backend"] == "docker" else []
    assert served["environment"] == sorted(["HOME", "LANG", "PATH", "PWD", "TMPDIR", "USER", *engines])
    assert (served["read"], served["interfaces"], listed) == ("one\n", ["lo"], ["in"])
    assert sorted(entry.name for entry in (folder / "home").iterdir()) == ["made"]


def test_a_session_talks_to_a_server_that_stays(backend, folder):
    text = """
    mkfifo to from; /.server sh -c 'while read line; do echo "[$line]"; done' <to >from & exec 3>to 4<from
    for word in one two; do echo $word >&3; read answer <&4; echo $answer; done; exec 3>&-; wait
    """
    assert run(backend, folder, text)[1] == "[one]\n[two]\n"


def test_a_server_dies_with_the_stand_in_that_its_session_kills(backend, folder):
    text = """
    mkfifo up; /.server sh -c 'echo up >&1; exec sleep 600' >up & read line <up; kill -9 $!
    until ! /.server sh -c 'cat /proc/[0-9]*/comm' 2>/dev/null | grep -qx sleep; do sleep 0.01; done
    """
    run(backend, folder, text)


def test_tools_and_servers_have_a_room_each(backend, folder):
    def look(own, other):
        """Wait for one's own neighbour, then tell whether the other room's is seen, a word of the session, a write."""
        until = f"until grep -qs '[{own[0]}]{own[1:]}' /proc/[0-9]*/cmdline; do sleep 0.01; done"
        tell = f"grep -qs '[{other[0]}]{other[1:]}' /proc/[0-9]*/cmdline && echo other; echo $WORD"
        write = "(: >made) 2>/dev/null && echo wrote"
        return f"sh -c {shlex.quote(f'{until}; {tell}; {write}')}"

    text = f"""
    /.tool sleep 5432 & tool=$!; /.server sleep 6543 & export WORD=own
    /.tool {look("5432", "6543")}; echo -; /.server {look("6543", "5432")}; kill $tool $!
    """
    _, said = run(backend, folder, text, tools=ToolRoom(folder / "tools"))
    in_tools, in_servers = said.split("-\n")
    assert in_tools == "own\nwrote\n"
    assert in_servers == "\n"
    assert sorted(entry.name for entry in folder.iterdir()) == ["home", "ws"]


def test_what_servers_compute_is_in_the_sessions_processor_time(backend, folder):
    burn = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done"
    idle, _ = run(backend, folder, "/.server true")
    busy, _ = run(backend, folder, f"/.server sh -c '{burn}'")
    assert busy.cpu_s > idle.cpu_s + 0.1


def test_without_a_room_there_is_no_server(backend):
    assert backend.run(script("/.server true"), Heard(), lambda: False).code == 127
