"""The one way out of a sandbox: to the door's socket, straight or by the loopback's port, and nowhere else."""

import json
import os
import secrets
import socket
from contextlib import closing
from dataclasses import replace

import pytest

from sandbox.backends.docker import Docker
from sandbox.door import listening
from sandbox.errors import SandboxRefusedError
from sandbox.spec import Bind, Door, ExitKind
from sandbox.testing import LIMITS, Heard, script
from tests.builders.doors import answering
from tests.builders.sandbox_rooms import bubblewrap, system_python, work_root

CALL = """
import json, os, socket, sys
BY_PATH, BY_PORT = "/run/model.sock", ("127.0.0.1", 8080)

def call(where, line):
    with socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET) as caller:
        caller.settimeout(10)
        caller.connect(where)
        caller.sendall(line)
        caller.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: caller.recv(65536), b""))

def tried(act):
    try:
        return act()
    except OSError as error:
        return type(error).__name__
"""


@pytest.fixture(params=["native", "python", "docker"])
def backend(request):
    match request.param:
        case "native":
            yield bubblewrap(None)
        case "python":
            yield bubblewrap("")
        case "docker":
            image, engine = (request.getfixturevalue(name) for name in ("docker_python_image", "docker_engine"))
            with closing(Docker(work_root() / "docker-doors", image, engine.url)) as made:
                yield made


@pytest.fixture
def door(backend):
    with answering(backend.owner(0)) as opened:
        yield opened


def say(backend, door, text, **changes):
    """Run a Python guest and give what it printed, as JSON."""
    heard = Heard()
    argv = (system_python(), "-I", "-S", "-c", f"{CALL}\nprint(json.dumps({text}))")
    spec = replace(script(""), argv=argv, door=door, **changes)
    exit_ = backend.run(spec, heard, lambda: False)
    assert (exit_.kind, exit_.code) == (ExitKind.EXITED, 0), heard.stderr
    return json.loads(heard.stdout)


def test_a_guest_reaches_its_door_by_the_socket_and_by_the_port(backend, door):
    saw = say(backend, door, "[call(where, b'hello\\n').decode() for where in (BY_PATH, BY_PORT)]")
    assert saw == ["welcome\n", "welcome\n"]


def test_without_a_door_there_is_neither(backend):
    saw = say(backend, None, "[tried(lambda: call(where, b'')) for where in (BY_PATH, BY_PORT)]")
    assert saw == ["FileNotFoundError", "ConnectionRefusedError"]


def test_what_a_caller_sends_before_it_ends_arrives_whole_and_is_still_answered(backend, door):
    assert say(backend, door, "call(BY_PORT, b'count\\n' + bytes(5_000_000)).decode()") == "5000000\n"


def test_a_long_answer_arrives_whole(backend, door):
    assert say(backend, door, "len(call(BY_PORT, b'give 5000000\\n'))") == 5_000_000


def test_callers_beyond_what_the_forwarder_holds_wait_and_are_served(backend, door):
    text = """(
        callers := [socket.create_connection(BY_PORT, 10) for _ in range(100)],
        [caller.sendall(b"hello\\n") for caller in callers],
        [(caller.recv(8).decode(), caller.close())[0] for caller in callers],
    )[2]"""
    assert say(backend, door, text) == ["welcome\n"] * 100


def test_a_slow_caller_holds_up_nobody(backend, door):
    text = """(
        slow := socket.create_connection(BY_PORT, 10),
        slow.sendall(b"give 5000000\\n"),
        call(BY_PORT, b"hello\\n").decode(),
    )[2]"""
    assert say(backend, door, text) == "welcome\n"


def test_a_door_at_which_nobody_listens_any_more_ends_its_callers(backend):
    folder = work_root() / f"closed-{secrets.token_hex(4)}"
    folder.mkdir()
    place = folder / "door"
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(place))
    os.chown(place, *backend.owner(0))
    saw = say(backend, Door(place), "tried(lambda: call(BY_PORT, b'hello\\n').decode())")
    assert saw in {"", "ConnectionResetError", "BrokenPipeError", "OSError"}


def test_the_forwarder_takes_nothing_from_the_guests_processes_and_dies_with_it(backend, door):
    limits = replace(LIMITS, processes=8)
    fork = 'tried(lambda: os.fork() and "forked" or os.execl("/bin/sleep", "sleep", "60"))'
    text = f"[{fork} for _ in range(9)]"
    assert say(backend, door, text, limits=limits) == say(backend, None, text, limits=limits)


def test_a_guest_can_neither_read_nor_change_the_forwarder(backend, door):
    text = (
        "[tried(lambda: open(f'/proc/{pid}/{name}', mode).close())"
        " for pid in os.listdir('/proc') if pid.isdigit() and int(pid) != os.getpid()"
        " for name, mode in (('mem', 'r+b'), ('environ', 'rb'))]"
    )
    of_init_and_forwarder = ["PermissionError"] * 4
    assert say(backend, door, text) == of_init_and_forwarder


def test_a_guest_can_not_replace_its_door(backend, door):
    text = (
        "[tried(lambda: os.unlink(BY_PATH)), tried(lambda: os.rename(BY_PATH, '/run/other')),"
        " call(BY_PATH, b'hello\\n').decode()]"
    )
    *failed, said = say(backend, door, text)
    assert set(failed) <= {"OSError", "PermissionError"}
    assert said == "welcome\n"


def test_a_port_that_is_the_guests_own_choice_leads_there_too(backend):
    with answering(backend.owner(0), port=9321) as door:
        assert say(backend, door, "call(('127.0.0.1', 9321), b'hello\\n').decode()") == "welcome\n"


@pytest.mark.parametrize("port", [0, 80, 65536])
def test_a_port_that_no_guest_can_have_is_refused(port):
    with answering(bubblewrap().owner(0), port) as door, pytest.raises(SandboxRefusedError, match="door port"):
        say(bubblewrap(), door, "0")


def test_a_door_that_is_no_socket_or_behind_a_link_is_refused(tmp_path):
    plain, link = tmp_path.resolve() / "plain", tmp_path.resolve() / "link"
    plain.write_text("")
    link.symlink_to(plain)
    with pytest.raises(SandboxRefusedError, match="no socket"):
        say(bubblewrap(), Door(plain), "0")
    with pytest.raises(SandboxRefusedError, match="symlink"):
        say(bubblewrap(), Door(link), "0")


def test_a_bind_in_the_doors_place_is_refused(tmp_path):
    with pytest.raises(SandboxRefusedError, match=r"two binds have the target '/run/model\.sock'"):
        say(bubblewrap(), None, "0", binds=(Bind(tmp_path.resolve(), "/run/model.sock"),))


def test_a_listener_may_be_deeper_than_a_sockets_path_is_long(tmp_path):
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    with listening(deep / "door", (os.geteuid(), os.getegid())):
        assert (deep / "door").is_socket()
        assert (deep / "door").stat().st_mode & 0o777 == 0o600
    assert not (deep / "door").exists()
