"""The tool room: what a session hands over runs beside it, with its files, and without its door."""

import json
import os
import secrets
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import sandbox
from sandbox.errors import SandboxRefusedError
from sandbox.spec import Bind, ExitKind, ToolRoom
from sandbox.testing import LIMITS, Heard, script
from tests.builders.doors import answering
from tests.builders.sandbox_rooms import a_backend, system_python, work_root

REACH = """
import json, socket
def reach(family, place):
    try:
        with socket.socket(family) as caller:
            caller.settimeout(5)
            caller.connect(place)
            caller.sendall(b"hello\\n")
            return caller.recv(8).decode()
    except OSError as error:
        return type(error).__name__
print(json.dumps([reach(socket.AF_UNIX, "/run/model.sock"), reach(socket.AF_INET, ("127.0.0.1", 8080))]))
"""
PYTHON = f"{system_python()} -I -S -c"
BOTH = ["welcome\n", "welcome\n"]
NEITHER = ["FileNotFoundError", "ConnectionRefusedError"]


@pytest.fixture(params=["native", "python", "docker"])
def backend(request):
    return a_backend(request)


@pytest.fixture
def folder(backend):
    place = work_root() / f"session-{secrets.token_hex(4)}"
    place.mkdir()
    for name in ("out", "home"):
        (place / name).mkdir(mode=0o700)
        os.chown(place / name, *backend.owner(0))
    return place


def run(backend, folder, text, heard, **changes):
    """Run a session's shell script with a tool room beside it."""
    out = Bind(folder / "out", "/cell/out", writable=True)
    home = Bind(folder / "home", "/home/agent", writable=True)
    spec = replace(script(text, out, home), tools=ToolRoom(folder / "tools"), cwd="/cell/out", **changes)
    return backend.run(spec, heard, lambda: False)


def said(backend, folder, text, **changes):
    heard = Heard()
    exit_ = run(backend, folder, text, heard, **changes)
    assert (exit_.kind, exit_.code) == (ExitKind.EXITED, 0), heard.stderr
    return heard.stdout.decode()


def living(mark):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            found += [entry.name] if mark.encode() in words else []
    return found


def test_in_one_session_the_agent_reaches_the_door_and_a_tool_reaches_neither_way(backend, folder):
    with answering(backend.owner(0)) as door:
        reach = f"{PYTHON} {shlex.quote(REACH)}"
        lines = said(backend, folder, f"{reach}; /.tool {reach}; {reach}", door=door).splitlines()
    assert [json.loads(line) for line in lines] == [BOTH, NEITHER, BOTH]


def test_a_tool_finds_the_directory_the_environment_and_the_files_of_the_session(backend, folder):
    tool = "/.tool sh -c 'pwd; echo $WORD; cat in; echo y >made'"
    text = f"mkdir sub; cd sub; export WORD='a b'; echo x >in; {tool}; cat made"
    assert said(backend, folder, text) == "/cell/out/sub\na b\nx\ny\n"


def test_a_tool_takes_the_sessions_input_and_gives_it_both_outputs(backend, folder):
    text = "echo in | /.tool sh -c 'cat; echo err >&2' 2>err; cat err"
    assert said(backend, folder, text) == "in\nerr\n"


ORDER = """
import array, socket, struct, sys
def ends(words, body=b"/\\0/bin/true\\0WORD=1\\0"):
    with socket.socket(socket.AF_UNIX) as room:
        room.connect("/run/.tool.sock")
        stdio = array.array("i", (0, 1, 2))
        room.sendmsg([struct.pack("II", len(body), words), body], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, stdio)])
        return int.from_bytes(room.recv(4), sys.byteorder) >> 8
print([ends(words) for words in (1, 2, 0, 3, 2**32 - 2, 2**32 - 1)])
"""


def test_an_order_of_more_words_than_it_holds_runs_nothing(backend, folder):
    assert said(backend, folder, f"{PYTHON} {shlex.quote(ORDER)}") == "[0, 0, 125, 125, 125, 125]\n"


def test_a_long_stream_passes_whole(backend, folder):
    assert said(backend, folder, "head -c 5000000 /dev/zero | /.tool cat | wc -c").strip() == "5000000"


def test_a_tools_end_is_its_stand_ins_end(backend, folder):
    text = "for end in 'exit 0' 'exit 37' 'kill -9 $$' 'kill -15 $$'; do /.tool sh -c \"$end\"; echo $?; done"
    assert said(backend, folder, text).split() == ["0", "37", "137", "143"]


def test_a_command_that_is_not_there_or_no_program_is_told_as_a_shell_tells_it(backend, folder):
    text = "/.tool nowhere-at-all; echo $?; echo x >plain; /.tool ./plain; echo $?"
    assert said(backend, folder, text).split() == ["127", "126"]


def test_many_tools_run_side_by_side_and_leave_no_one_behind(backend, folder):
    # At last the init, the server and this command's own minder.
    count = "cat /proc/[0-9]*/comm 2>/dev/null | grep -vcE '^(cat|grep|sh)$'"
    text = f"""
    for one in $(seq 20); do /.tool sh -c "sleep 0.1; echo $one" & done; wait
    /.tool sh -c {shlex.quote(f'until [ "$({count})" = 3 ]; do sleep 0.01; done; echo alone')}
    """
    lines = said(backend, folder, text).splitlines()
    assert sorted(int(line) for line in lines[:20]) == list(range(1, 21))
    assert lines[20:] == ["alone"]


def test_a_daemon_of_a_tool_serves_the_next_tool(backend, folder):
    text = f"""
    /.tool sh -c '{PYTHON} "
import socket
door = socket.create_server((\\"127.0.0.1\\", 3000))
print(\\"ready\\", flush=True)
door.accept()[0].sendall(b\\"served\\")
" >ready 2>&1 &'
    until grep -q ready ready; do sleep 0.01; done
    /.tool {PYTHON} 'import socket; print(socket.create_connection(("127.0.0.1", 3000)).recv(9).decode())'
    """
    assert said(backend, folder, text) == "served\n"


def test_a_stand_in_that_is_killed_takes_its_command_along(backend, folder):
    text = """
    /.tool sh -c 'echo $$ >pid; sleep 600 & wait' & until [ -s pid ]; do sleep 0.01; done
    kill -9 $!; wait $! 2>/dev/null
    while /.tool kill -0 $(cat pid) 2>/dev/null; do sleep 0.01; done; echo gone
    """
    assert said(backend, folder, text) == "gone\n"


def test_no_process_of_a_tool_survives_the_session(backend, folder):
    mark = f"tool-that-stays-{secrets.token_hex(4)}"
    text = f'/.tool sh -c \'setsid sh -c ": {mark}; trap \\"\\" TERM HUP; sleep 600" & echo started\''
    assert said(backend, folder, text) == "started\n"
    assert living(mark) == []


OWNER = """
import sys
from dataclasses import replace
from pathlib import Path
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.spec import ToolRoom
from sandbox.testing import script
root, tools, text = sys.argv[1:]
say = lambda stream, chunk: sys.stdout.buffer.write(chunk) and sys.stdout.flush()
Bubblewrap(Path(root)).run(replace(script(text), tools=ToolRoom(Path(tools))), say, lambda: False)
"""


@pytest.mark.parametrize("backend", ["native"], indirect=True)
def test_an_owner_that_is_killed_takes_the_tools_along(folder):
    mark = f"tool-whose-owner-is-killed-{secrets.token_hex(4)}"
    text = f"/.tool sh -c ': {mark}; setsid sleep 600 & echo ready; wait'"
    words = (sys.executable, "-c", OWNER, str(work_root() / "work-None"), str(folder / "tools"), text)
    with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=Path(sandbox.__file__).parents[1]) as owner:
        assert owner.stdout.readline() == b"ready\n"
        assert living(mark)
        owner.kill()
    limit = time.monotonic() + 10
    while living(mark) and time.monotonic() < limit:
        time.sleep(0.02)
    assert living(mark) == []


def test_a_session_that_is_cut_takes_its_tools_along(backend, folder):
    mark = f"tool-that-is-cut-{secrets.token_hex(4)}"
    limits = replace(LIMITS, wall_s=0.5)
    exit_ = run(backend, folder, f"/.tool sh -c ': {mark}; sleep 600; :'", Heard(), limits=limits)
    assert (exit_.kind, exit_.limit) == (ExitKind.LIMIT, "wall")
    assert living(mark) == []


def test_a_stop_ends_a_tool_room_that_is_full_of_processes_in_under_a_second(backend, folder):
    fork = "trap '' TERM HUP; for one in $(seq 40); do (while :; do :; done) & done; echo busy; wait"
    heard, times = Heard(), []

    def is_busy():
        if heard.stdout:
            times.append(time.monotonic())
        return bool(times)

    spec = replace(script(f"/.tool sh -c {shlex.quote(fork)}"), tools=ToolRoom(folder / "tools"))
    assert backend.run(spec, heard, is_busy).kind is ExitKind.STOPPED
    assert time.monotonic() - times[0] < 1


def test_what_tools_compute_is_in_the_sessions_processor_time(backend, folder):
    burn = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done"
    idle = run(backend, folder, f"/.tool sh -c ':'; : '{burn}'", Heard())
    busy = run(backend, folder, f"/.tool sh -c '{burn}'", Heard())
    assert busy.cpu_s > idle.cpu_s + 0.1


def test_a_tool_sees_nothing_of_the_sessions_home_and_processes(backend, folder):
    text = "echo secret >$HOME/key; sleep 600 & /.tool sh -c 'ls -A $HOME /run; cat /proc/[0-9]*/comm'; kill $!"
    lines = said(backend, folder, text).split()
    assert "key" not in lines
    assert ".tool.sock" not in lines
    assert "sleep" not in lines


def test_a_tool_has_the_whole_filter_and_no_user_namespaces(backend, folder):
    text = "/.tool sh -c 'grep -E \"NoNewPrivs|Seccomp:|CapEff\" /proc/self/status; unshare -U true; echo $?'"
    words = said(backend, folder, text).split()
    assert words == ["CapEff:", "0" * 16, "NoNewPrivs:", "1", "Seccomp:", "2", "1"]


def test_a_tool_can_not_be_handed_a_folder_of_the_session(backend, folder):
    text = "/.tool sh -c 'ls /proc/self/fd/0/' </run; echo $?"
    # Python itself refuses to start with a folder as its input.
    assert said(backend, folder, text) == {"native": "125\n", "python": "1\n"}[backend.facts()["tool"]]


def test_a_room_that_its_tool_ended_refuses_the_next_and_the_session_goes_on(backend, folder):
    text = "/.tool sh -c 'kill -9 -1'; until /.tool true; [ $? = 125 ]; do :; done; echo on"
    before = time.monotonic()
    assert said(backend, folder, text) == "on\n"
    assert time.monotonic() - before < 15


def test_without_a_room_there_is_no_tool(backend):
    heard = Heard()
    exit_ = backend.run(script("/.tool true"), heard, lambda: False)
    assert exit_.code == 127


def test_nothing_is_left_in_the_folder(backend, folder):
    said(backend, folder, "/.tool true")
    assert sorted(entry.name for entry in folder.iterdir()) == ["home", "out"]


def test_a_room_behind_a_link_is_refused(backend, folder):
    (folder / "link").symlink_to(folder)
    spec = replace(script("true"), tools=ToolRoom(folder / "link" / "tools"))
    with pytest.raises(SandboxRefusedError, match="symlink"):
        backend.run(spec, Heard(), lambda: False)


def test_the_facts_name_what_runs_tools(backend):
    assert backend.facts()["tool"] == backend.facts()["init"]
