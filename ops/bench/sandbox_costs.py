"""What a sandbox costs to start, and how soon a cancelled one is gone.

    python ops/bench/sandbox.py [SPAWNS [CANCELS]]

The ways to run `true` take turns, so that whatever else the machine does disturbs all alike. Bubblewrap's own full plan
is the same namespaces, mounts, filter and change of user, with bubblewrap's init and no control groups. A cancel is
timed from the moment that `stop` would say so, up to `run`'s return, which proves that all is dead. Its guest ignores
every signal, has daemons forked twice, and keeps forking at its limit of 195 processes.

With FARM_DOCKER_ENGINE (unix:///…) and FARM_DOCKER_IMAGE (by digest, with /bin/true) set, `docker run` and our docker
backend have columns, too.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sandbox.backends import plan, program, workroot
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.backends.docker import Docker
from sandbox.process.tools import prepare
from sandbox.seccomp import architecture_here
from sandbox.seccomp import program as seccomp_program
from sandbox.spec import ExitKind, Limits, SandboxSpec, Stream

_LIMITS = Limits(
    wall_s=60.0,
    memory_bytes=1 << 30,
    processes=195,
    file_size_bytes=1 << 20,
    open_files=256,
    output_bytes=1 << 16,
    tmp_bytes=1 << 26,
)
_SYSTEM = ("--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64")
_MINIMAL = ("/usr/bin/bwrap", "--unshare-all", *_SYSTEM, "--proc", "/proc", "--dev", "/dev", "/usr/bin/true")
_FULL = "bubblewrap's own full plan"
_OURS = "ours"
_DOCKER = "docker run"
_MOST = 1.4
_MOST_OF_DOCKER = 1 / 15
_BOMB = """
import os, signal, time
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
while True:
    try:
        os.fork()
    except OSError:
        os.write(1, b"full\\n")
        time.sleep(0.01)
"""


class _Plain:
    """Bubblewrap without anything of ours around it but the loss of root."""

    def __init__(self, root: Path, box: Bubblewrap) -> None:
        self._drop = prepare(root / "bin").drop(*box.owner(0)) if os.geteuid() == 0 else ()
        self._filter = seccomp_program(architecture_here())
        self._layout = plan.HostLayout(
            roots=plan.root_links(),
            etc=workroot.write_etc(root / "etc", plan.SYNTHETIC_ETC),
            init=Path("/usr/bin/true"),
            init_words=(),
            can_disable_userns=True,
        )

    def bare(self) -> None:
        """Run the program alone."""
        self._run("/usr/bin/true")

    def minimal(self) -> None:
        """Run it with the fewest options that still give every namespace."""
        self._run(*self._drop, *_MINIMAL)

    def full(self) -> None:
        """Run it with our plan and bubblewrap's own init, and read to the end what bubblewrap tells."""
        read, write = os.pipe()
        seccomp = _memory(self._filter)
        options = plan.options(_true(), self._layout, plan.PlanFds(write, seccomp))
        words = _memory(b"".join(word.encode() + b"\0" for word in options if word != "--as-pid-1"))
        argv = (*self._drop, "/usr/bin/bwrap", "--args", str(words), "--", "/usr/bin/true")
        with subprocess.Popen(argv, env=program.BARE_ENV, pass_fds=(write, seccomp, words)) as child:  # noqa: S603 (a fixed command)
            for fd in (write, seccomp, words):
                os.close(fd)
            with os.fdopen(read, "rb") as status:
                told = status.read()
        if child.returncode != 0 or b'"exit-code": 0' not in told:
            raise SystemExit(f"bubblewrap's own full plan does not run here: {told!r}")

    def _run(self, *argv: str) -> None:
        subprocess.run(argv, check=True, env=program.BARE_ENV)  # noqa: S603 (a fixed command)


def _memory(content: bytes) -> int:
    fd = os.memfd_create("bench")
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _true() -> SandboxSpec:
    return SandboxSpec(argv=("/usr/bin/true",), binds=(), limits=_LIMITS, cwd="/")


def _run_ours(box: Bubblewrap) -> None:
    exit_ = box.run(_true(), lambda *_: None, lambda: False)
    if exit_.code != 0:
        raise SystemExit(f"our sandbox does not run here: {exit_}")


def _run_quietly(words: tuple[str, ...]) -> None:
    subprocess.run(words, check=True, capture_output=True)  # noqa: S603 (a fixed command)


def _run_docker(docker: Docker) -> None:
    exit_ = docker.run(replace(_true(), argv=("/bin/true",)), lambda *_: None, lambda: False)
    if exit_.code != 0:
        raise SystemExit(f"the docker sandbox does not run here: {exit_}")


def _shares(took: dict[str, list[float]]) -> bool:
    """Print ours beside the ways that it is held against, by medians; say whether it costs no more than it may."""
    medians = {name: statistics.median(times) for name, times in took.items()}
    bars = {_FULL: _MOST, _DOCKER: _MOST_OF_DOCKER}
    shares = {name: medians[_OURS] / medians[name] for name in bars if name in medians}
    for name, share in shares.items():
        print(f"ours / {name}, by medians: {share:.3f} (at most {bars[name]:.3f})")
    return all(share <= bars[name] for name, share in shares.items())


def ways(root: Path, box: Bubblewrap) -> dict[str, Callable[[], None]]:
    """Name each way to run `true`; another backend's column goes here."""
    plain = _Plain(root, box)
    columns = {
        "bare": plain.bare,
        "bubblewrap minimal": plain.minimal,
        _FULL: plain.full,
        _OURS: lambda: _run_ours(box),
    }
    image = os.environ.get("FARM_DOCKER_IMAGE")  # noqa: TID251 (a bench has no settings)
    engine = os.environ.get("FARM_DOCKER_ENGINE")  # noqa: TID251 (a bench has no settings)
    if image and engine:
        docker = Docker(root.parent / "docker", image, engine)
        columns["our docker backend"] = lambda: _run_docker(docker)
        words = ("docker", "--host", engine, "run", "--rm", "--network", "none", image, "/bin/true")
        columns[_DOCKER] = lambda: _run_quietly(words)
    return columns


def time_spawns(columns: dict[str, Callable[[], None]], count: int) -> dict[str, list[float]]:
    """Run all columns in turn, `count` times, and give the milliseconds of each."""
    took: dict[str, list[float]] = {name: [] for name in columns}
    for run in columns.values():
        run()
    for _ in range(count):
        for name, run in columns.items():
            before = time.perf_counter()
            run()
            took[name].append((time.perf_counter() - before) * 1000)
    return took


def time_cancel(box: Bubblewrap, wait_s: float) -> float:
    """Cancel a bomb `wait_s` after it has come to its limit; give the milliseconds until `run` returned."""
    moments: list[float] = []

    def hear(_stream: Stream, _chunk: bytes) -> None:
        if not moments:
            moments.append(time.perf_counter() + wait_s)

    def must_stop() -> bool:
        return bool(moments) and time.perf_counter() >= moments[0]

    spec = replace(_true(), argv=("/usr/bin/python3", "-I", "-S", "-c", _BOMB))
    exit_ = box.run(spec, hear, must_stop)
    if exit_.kind is not ExitKind.STOPPED:
        raise SystemExit(f"the bomb was not cancelled: {exit_}")
    return (time.perf_counter() - moments[0]) * 1000


def _line(name: str, took: list[float]) -> str:
    ordered = sorted(took)
    late = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return f"{name:<28} p50 {statistics.median(ordered):7.2f} ms   p99 {late:7.2f} ms   n {len(ordered)}"


def main(spawns: int, cancels: int) -> int:
    """Print the figures; 1 when ours costs more than it may."""
    with tempfile.TemporaryDirectory(prefix="sandbox-bench-") as place:
        root = Path(place)
        root.chmod(0o711)
        box = Bubblewrap(root / "work")
        facts = box.facts()
        print(f"bubblewrap {facts['bubblewrap']}, init {facts['init']}, spawner {facts['spawner']}, {facts['limits']}")
        took = time_spawns(ways(root / "work", box), spawns)
        for name, times in took.items():
            print(_line(name, times))
        holds = _shares(took)
        chance = random.Random(cancels)  # noqa: S311 (moments, not secrets)
        if cancels:
            print(_line("cancel to all gone", [time_cancel(box, chance.uniform(0.0, 0.1)) for _ in range(cancels)]))
        del box
    return 0 if holds else 1


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(numbers + [200, 40][len(numbers) :])))
