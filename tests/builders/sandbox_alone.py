"""The sandbox in a process of its own, with nothing but the standard library: reads an order, prints what came of it.

It is copied beside the package and run by the system's Python, maybe as another user; it is not imported.
"""

import json
import os
import socket
import sys
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path

from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.disk import find
from sandbox.door import listening
from sandbox.spec import Bind, Door, Limits, SandboxSpec, Stream, ToolRoom
from sandbox.testing import SandboxConformance


def conform(backend):
    class Alone(SandboxConformance):
        netcat = "busybox nc"

        def make(self, folder):
            del folder
            return backend

    ends = {}
    for name in dir(SandboxConformance):
        if name.startswith("test_"):
            suite = Alone()
            suite.setup_method()
            try:
                getattr(suite, name)()
                ends[name] = "passed"
            except Exception as error:  # noqa: BLE001 (a test's end is told, whatever it is)
                ends[name] = repr(error)
            finally:
                suite.teardown_method()
    return {"owner": backend.owner(3), "ends": ends}


def visit(backend, home, order):
    """Run a guest script on stdin of the guest's Python, with a writable bind."""

    out = Path(tempfile.mkdtemp(dir=home, prefix="out-"))
    os.chown(out, *backend.owner(0))
    home.chmod(0o711)
    heard = {Stream.STDOUT: b"", Stream.STDERR: b""}

    def keep(stream, chunk):
        heard[stream] += chunk

    spec = SandboxSpec(
        argv=(order["python"], "-I", "-S", "-B", "-", json.dumps(order["tries"])),
        stdin=order["script"].encode(),
        binds=(Bind(out, "/cell/out", writable=True),),
        limits=Limits(**order["limits"]),
        cwd="/",
    )
    run = backend.run if order["filtered"] else backend.run_unfiltered
    exit_ = run(spec, keep, lambda: False)
    return told(exit_, heard)


def told(exit_, heard):
    return {
        "code": exit_.code,
        "stdout": heard[Stream.STDOUT].decode(errors="replace"),
        "stderr": heard[Stream.STDERR].decode(errors="replace"),
    }


def answer(listener):
    while True:
        try:
            caller = listener.accept()[0]
        except OSError:  # shut down: the visit is over
            return
        with caller:
            caller.recv(1)
            caller.sendall(b"!")


def call(backend, home, order):
    """Run a guest script with a door and a tool room."""
    home.chmod(0o711)
    heard = {Stream.STDOUT: b"", Stream.STDERR: b""}

    def keep(stream, chunk):
        heard[stream] += chunk

    with listening(home / "door", backend.owner(0)) as listener:
        answering = threading.Thread(target=answer, args=(listener,))
        answering.start()
        spec = SandboxSpec(
            argv=(order["python"], "-I", "-S", "-B", "-c", order["script"], order["script"], order["as"]),
            binds=(),
            limits=Limits(**order["limits"]),
            cwd="/",
            door=Door(home / "door"),
            tools=ToolRoom(home / "tools"),
        )
        exit_ = backend.run(spec, keep, lambda: False)
        listener.shutdown(socket.SHUT_RDWR)
        answering.join()
    return told(exit_, heard)


def disks(home):
    """Ask for disks."""
    found = find(home / "disks", home / "images")
    return {"is": found.disks is not None, "reason": found.reason}


DEEDS = {
    "disks": lambda _backend, home, _order: disks(home),
    "conform": lambda backend, _home, _order: conform(backend),
    "visit": visit,
    "call": call,
    "facts": lambda backend, _home, _order: backend.facts(),
    "preflight": lambda backend, home, _order: [asdict(probe) for probe in backend.preflight(home / "scratch")],
}


if __name__ == "__main__":
    order = json.loads(sys.stdin.read())
    home = Path(order["home"])
    backend = Bubblewrap(home / "work")
    print(json.dumps(DEEDS[order["do"]](backend, home, order)))  # noqa: T201 (the answer to whoever started this)
