"""What the loopback's forwarder adds to a request, against the door's unix socket, from inside one sandbox.

    python ops/bench/door.py [ROUNDS]

Both ways take turns in one run, so that a busy machine hurts them alike. A request and its answer are 512 bytes each.
The last column is the median of what the port took longer than the socket in the same round.
"""

import json
import shutil
import socket
import sys
import tempfile
import threading
from pathlib import Path

from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.door import listening
from sandbox.spec import Door, Limits, SandboxSpec, Stream

_SIZE = 512
_ROUNDS = 2000
_PYTHON = "/usr/bin/python3"
_LIMITS = Limits(
    wall_s=300.0,
    memory_bytes=1 << 30,
    processes=16,
    file_size_bytes=1 << 20,
    open_files=256,
    output_bytes=16 << 20,
    tmp_bytes=1 << 20,
)

_CLIENT = f"""
import json, socket, sys, time
BODY = b"x" * {_SIZE}
WAYS = {{"socket": (socket.AF_UNIX, "/run/model.sock"), "port": (socket.AF_INET, ("127.0.0.1", 8080))}}

def opened(way):
    family, place = WAYS[way]
    caller = socket.socket(family)
    caller.connect(place)
    if family == socket.AF_INET:
        caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return caller

def ask(caller):
    caller.sendall(BODY)
    left = len(BODY)
    while left:
        left -= len(caller.recv(left))

def timed(act):
    before = time.perf_counter()
    act()
    return (time.perf_counter() - before) * 1000

def once(way):
    with opened(way) as caller:
        ask(caller)

kept = {{way: opened(way) for way in WAYS}}
took = {{(kind, way): [] for kind in ("keep-alive", "new connection") for way in WAYS}}
for number in range(int(sys.argv[1])):
    for way in sorted(WAYS, reverse=bool(number % 2)):
        took["keep-alive", way].append(timed(lambda: ask(kept[way])))
    for way in sorted(WAYS, reverse=bool(number % 2)):
        took["new connection", way].append(timed(lambda: once(way)))
print(json.dumps([[*key, times] for key, times in took.items()]))
"""


def _echo(caller: socket.socket) -> None:
    with caller:
        while chunk := caller.recv(65536):
            caller.sendall(chunk)


def _answer(listener: socket.socket) -> None:
    while True:
        try:
            caller = listener.accept()[0]
        except OSError:  # closed: the bench is over
            return
        threading.Thread(target=_echo, args=(caller,), daemon=True).start()


def _measured(backend: Bubblewrap, door: Path, rounds: int) -> dict[str, dict[str, list[float]]]:
    heard = {stream: bytearray() for stream in Stream}
    spec = SandboxSpec(
        argv=(_PYTHON, "-I", "-S", "-c", _CLIENT, str(rounds)),
        binds=(),
        limits=_LIMITS,
        cwd="/",
        door=Door(door),
    )
    ended = backend.run(spec, lambda stream, chunk: heard[stream].extend(chunk), lambda: False)
    if ended.code != 0:
        raise SystemExit(f"the guest did not finish: {ended} {heard[Stream.STDERR].decode(errors='replace')}")
    found: dict[str, dict[str, list[float]]] = {}
    for kind, way, times in json.loads(heard[Stream.STDOUT]):
        found.setdefault(kind, {})[way] = times
    return found


def _quantile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def _print(kind: str, ways: dict[str, list[float]]) -> None:
    added = [port - straight for straight, port in zip(ways["socket"], ways["port"], strict=True)]
    cells = [f"{_quantile(ways[way], share):7.3f}" for way in ("socket", "port") for share in (0.5, 0.99)]
    print(f"{kind:<15} {' '.join(cells)}   {_quantile(added, 0.5):+7.3f}")


def main() -> None:
    """Measure with the native forwarder and with its stand-in, and print milliseconds."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else _ROUNDS
    root = Path(tempfile.mkdtemp(prefix="bench-door-"))
    root.chmod(0o711)
    try:
        print(f"{'ms':<15} {'socket':>7} {'p99':>7} {'port':>7} {'p99':>7}   {'added':>7}")
        for compiler in (None, ""):
            backend = Bubblewrap(root / f"work-{compiler}", compiler)
            print(f"forwarder: {backend.facts()['forwarder']}")
            with listening(root / "door", backend.owner(0)) as listener:
                threading.Thread(target=_answer, args=(listener,), daemon=True).start()
                for kind, ways in _measured(backend, root / "door", rounds).items():
                    _print(kind, ways)
                listener.shutdown(socket.SHUT_RDWR)
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
