"""What a tool costs: a command as the session's own child, in the tool room, and in a sandbox of its own.

    python ops/bench/tool_room.py [ROUNDS]

The ways take turns in one run. Below that, a whole empty session without and with a room beside it.
"""

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.spec import Limits, SandboxSpec, Stream, ToolRoom

_ROUNDS = 200
_PYTHON = "/usr/bin/python3"
_LIMITS = Limits(
    wall_s=300.0,
    memory_bytes=1 << 30,
    processes=64,
    file_size_bytes=1 << 20,
    open_files=256,
    output_bytes=16 << 20,
    tmp_bytes=1 << 20,
)
_CLIENT = """
import json, os, sys, time
WAYS = {"own child": ["/bin/true"], "tool room": ["/.tool", "/bin/true"]}
took = {way: [] for way in WAYS}
for number in range(int(sys.argv[1])):
    for way in sorted(WAYS, reverse=bool(number % 2)):
        before = time.perf_counter()
        os.waitpid(os.posix_spawn(WAYS[way][0], WAYS[way], os.environ), 0)
        took[way].append((time.perf_counter() - before) * 1000)
print(json.dumps(took))
"""


def _spec(*argv: str) -> SandboxSpec:
    return SandboxSpec(argv=argv, binds=(), limits=_LIMITS, cwd="/")


def _run(backend: Bubblewrap, spec: SandboxSpec) -> bytes:
    heard = {stream: bytearray() for stream in Stream}
    ended = backend.run(spec, lambda stream, chunk: heard[stream].extend(chunk), lambda: False)
    if ended.code != 0:
        raise SystemExit(f"the guest did not finish: {ended} {heard[Stream.STDERR].decode(errors='replace')}")
    return bytes(heard[Stream.STDOUT])


def _ms(act: Callable[[], object]) -> float:
    before = time.perf_counter()
    act()
    return (time.perf_counter() - before) * 1000


def _print(name: str, times: list[float]) -> None:
    ordered = sorted(times)
    print(f"{name:<28} {ordered[len(ordered) // 2]:8.2f} {ordered[int(len(ordered) * 0.99)]:8.2f}")


def main() -> None:
    """Measure, and print milliseconds."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else _ROUNDS
    root = Path(tempfile.mkdtemp(prefix="bench-tools-"))
    root.chmod(0o711)
    try:
        backend = Bubblewrap(root / "work")
        room = ToolRoom(root / "tools")
        took = json.loads(
            _run(backend, replace(_spec(_PYTHON, "-I", "-S", "-c", _CLIENT, str(rounds)), tools=room)),
        )
        empty = _spec("/bin/true")
        alone, beside = [], []
        for _ in range(rounds):
            alone.append(_ms(lambda: _run(backend, empty)))
            beside.append(_ms(lambda: _run(backend, replace(empty, tools=room))))
        print(f"{'ms':<28} {'p50':>8} {'p99':>8}   ({backend.facts()['tool']})")
        for name, times in took.items():
            _print(f"/bin/true as {name}", times)
        _print("/bin/true as a sandbox", alone)
        _print("empty session with a room", beside)
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
