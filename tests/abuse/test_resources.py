"""R: what a guest may use up of the kernel's, and whether another cell feels it."""

import os
import pty
from dataclasses import replace

import pytest

from sandbox import limits
from sandbox.spec import ExitKind
from sandbox.testing import LIMITS, Heard, script
from tests.builders.sandbox_rooms import alone, bubblewrap, system_python, users

MIB = 1 << 20
FOUND = limits.find()
needs_groups = pytest.mark.skipif(FOUND.groups is None, reason=f"no control groups: {FOUND.reason}")


def python(text, **changed):
    argv = (system_python(), "-I", "-S", "-B", "-c", text)
    return replace(script(""), argv=argv, limits=replace(LIMITS, **changed))


def run(spec):
    heard = Heard()
    return bubblewrap().run(spec, heard, lambda: False), heard


STREAMS = """
import socket
door = socket.create_server(("127.0.0.1", 0))
ends, queued = [], 0
while queued < (160 << 20) and len(ends) < 120:
    caller = socket.create_connection(door.getsockname())
    ends += [caller, door.accept()[0]]
    for end in ends[-2:]:
        end.setblocking(False)
        try:
            while queued < (160 << 20):
                queued += end.send(bytes(65536))
        except BlockingIOError:
            pass
print(queued >> 20)
"""
DATAGRAMS = """
import socket
held = []
for _ in range(70):
    held.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    held[-1].bind(("127.0.0.1", 0))
    held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as caller:
        for _ in range(40):
            caller.sendto(bytes(60000), held[-1].getsockname())
taken = 0
for one in held:
    one.setblocking(False)
    try:
        while True:
            taken += len(one.recv(65536))
    except BlockingIOError:
        pass
print(taken >> 20)
"""


@needs_groups
@pytest.mark.parametrize("text", [STREAMS, DATAGRAMS], ids=["streams", "datagrams"])
def test_r9_what_waits_in_sockets_is_held_like_other_memory(text):
    exit_, heard = run(python(text, memory_bytes=48 * MIB, open_files=512))
    if exit_.kind is ExitKind.LIMIT:  # version 2
        assert exit_.limit == "memory"
    else:
        assert (exit_.code, heard.stderr) == (0, b"")
        assert 1 <= int(heard.stdout) <= 24
        assert int(heard.stdout) * MIB <= exit_.peak_memory_bytes <= 72 * MIB


TERMINALS = """
import errno, os
held = []
try:
    while True:
        held.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
except OSError as error:
    print(len(held), errno.errorcode[error.errno], len(os.listdir("/dev/pts")) - 1, flush=True)
"""


@pytest.mark.parametrize("user", users())
def test_r10_a_cell_has_so_many_terminals_and_takes_none_from_the_others(user):
    bounds = {name: getattr(LIMITS, name) for name in LIMITS.__slots__} | {"open_files": 512}
    order = {"do": "visit", "tries": {}, "filtered": True, "limits": bounds}
    told = alone(user, {**order, "python": system_python(), "script": TERMINALS})
    assert told["stdout"].split() == ["64", "ENOSPC", "64"]


def test_r10_nor_where_a_spawner_stands_in():
    heard = Heard()
    bubblewrap("").run(python(TERMINALS, open_files=512), heard, lambda: False)
    assert heard.stdout.split() == [b"64", b"ENOSPC", b"64"]


def test_r10n_the_hosts_terminals_are_more():
    held = [pty.openpty() for _ in range(65)]
    for one in held:
        for fd in one:
            os.close(fd)
