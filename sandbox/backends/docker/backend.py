"""The docker backend: one run is one container, made, attached to, started, watched, removed.

Its image, by digest, is the spec's, or one that the host's operator named. The engine gives the walls; a small init of
ours inside gives the rest: it tells exit codes and signals apart, loads the same system-call filter as the bubblewrap
backend under the engine's own, holds the door's forwarder, and ends the container when whoever started it dies.
"""

import hashlib
import os
import platform
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from socket import socket

from sandbox.backends import refusals, slots, tool_rooms, workroot
from sandbox.backends.cuts import by_signal, with_usage
from sandbox.backends.docker import preflight
from sandbox.backends.docker.container import OWNER_LABEL, ROOT_LABEL, Json, Place, container
from sandbox.backends.docker.engine import DEFAULT_URL, Engine
from sandbox.backends.docker.images import EngineImages
from sandbox.backends.docker.life import End, Life, Order
from sandbox.backends.docker.owners import is_dead, this_process
from sandbox.backends.docker.room import ContainerRoom, Desk, open_room
from sandbox.backends.docker.talk import LastWord
from sandbox.errors import SandboxCommandError, SandboxError, SandboxUnavailableError
from sandbox.limits import Group
from sandbox.process.tools import prepare_container
from sandbox.seccomp import architecture_here
from sandbox.seccomp import program as seccomp_program
from sandbox.spec import Exit, ExitKind, Facts, Probe, SandboxSpec, Sink


class Docker:
    """Runs specs in containers of `image`, on the engine at `url`, with a work root as the bubblewrap backend has."""

    def __init__(self, root: Path, image: str = "", url: str = DEFAULT_URL, *, pulls: bool = False) -> None:
        """Make ready below `root`, and remove what dead owners with the same root left on the engine.

        `image` is that of specs without one; `pulls` lets `images` ask registries for what the engine does not have.

        Raises SandboxUnavailableError, which says what is missing and how to get it.
        """
        root = workroot.ready(root)
        if not image:
            raise SandboxUnavailableError("the docker sandbox has no image: set FARM_DOCKER_IMAGE to one's sha256:… id")
        self._filter = seccomp_program(architecture_here())
        self._drops = os.geteuid() == 0
        self._root = str(root)
        self._session: Life | None = None
        self._tools = prepare_container(root / "bin")
        with ExitStack() as on_failure:
            self._engine = on_failure.enter_context(Engine(url or DEFAULT_URL, pulls=pulls))
            self._place = Place(
                image=self._engine.images.load(image),
                init=self._tools.init,
                labels={ROOT_LABEL: self._root, OWNER_LABEL: this_process()},
            )
            self.reap()
            on_failure.pop_all()

    @property
    def images(self) -> EngineImages:
        """Give the engine's images."""
        return self._engine.images

    def close(self) -> None:
        """Let go of the engine."""
        self._engine.close()

    def run(self, spec: SandboxSpec, sink: Sink, stop: Callable[[], bool]) -> Exit:
        """Run `spec` to its end, as `Sandbox.run` says; while the engine makes and starts it, `stop` is not asked.

        What it used is what its control group tells, its start by the engine left out of `cpu_s` alone, as it stood at
        the command's end or just before we ended it. Where that group can't be seen, the engine is asked instead, and
        `peak_processes` is unknown.
        Raises SandboxCommandError when the container stood but the command could not be executed.
        """

        def start(room: SandboxSpec, listener: socket, place: Path) -> ContainerRoom:
            desk = Desk(place.with_name(f"{place.name}.desk"), self.owner(spec.slot), listener)
            return open_room(self._engine, Order(room, self._filter, sink), self._body, desk)

        with tool_rooms.beside(spec, self._tools.tool, self.owner(spec.slot), start) as both:
            both.ended = self._run(Order(both.session, self._filter, sink), stop, both.groups)
        return both.whole()

    def run_unfiltered(self, spec: SandboxSpec, sink: Sink, stop: Callable[[], bool]) -> Exit:
        """Run without our system-call filter: for probes of what the engine's own holds. Never for guests."""
        return self._run(Order(spec, b"", sink), stop)

    def cut_lifeline(self) -> None:
        """Close the lifeline of the session that runs and do nothing else, for the same purpose."""
        if self._session is not None:
            self._session.cut_lifeline()

    def facts(self) -> Facts:
        """Say what enforces the containment."""
        found = self._engine.facts()
        return {
            "backend": "docker",
            "docker": found.version,
            "image": self._place.image.id,
            "runtime": found.runtime,
            "storage": found.storage,
            "cgroups": found.cgroups,
            "engine_security": found.security,
            "seccomp_sha256": hashlib.sha256(self._filter).hexdigest(),
            "init_sha256": hashlib.sha256(self._place.init.read_bytes()).hexdigest(),
            "bind_sources": "opened by name, after we looked",
            "init": "native",
            "tool": "native",
            "uids": "one per slot" if self._drops else "the worker's own",
            "limits": "cgroups of the engine, and rlimits",
            "memory": "per container, by cgroup, without swap",
            "processes": "per container, by cgroup",
            "disk": "per file, by RLIMIT_FSIZE; no cap on a bind's total",
            "kernel": platform.release(),
        }

    def owner(self, slot: int) -> tuple[int, int]:
        """Give the uid and gid of `slot`, inside as on the host: its own, or the worker's where that isn't root."""
        return slots.owner(slot, drops=self._drops)

    def preflight(self, scratch: Path) -> tuple[Probe, ...]:
        """Prove containment by effect below `scratch`, as `Sandbox.preflight` says."""
        return preflight.probe(self, scratch, self._tools)

    def reap(self) -> int:
        """Remove what dead owners with our root left on the engine; tell how many containers that were."""
        left = [one for one, owner in self._engine.labelled(ROOT_LABEL, self._root) if is_dead(owner)]
        for one in left:
            self._engine.remove(one)
        return len(left)

    def _run(self, order: Order, stop: Callable[[], bool], rooms: tuple[Group, ...] = ()) -> Exit:
        refusals.refuse_unsafe(order.spec)
        if stop():
            return Exit(kind=ExitKind.STOPPED, wall_s=0.0)
        # Whatever the sink or `stop` raised: nothing lives on.
        with ExitStack() as left:
            life = self._session = Life(self._engine, self._body(order.spec), order, left)
            end = life.end(life.until_end(stop, rooms))
        return replace(with_usage(_exit_of(order.spec, end), end.usage), cut=end.over_cap)

    def _body(self, spec: SandboxSpec) -> Json:
        place = self._place if spec.image is None else replace(self._place, image=self.images.load(spec.image))
        return container(spec, place, self.owner(spec.slot))


def _exit_of(spec: SandboxSpec, end: End) -> Exit:
    cpu_s = None if end.word is None else end.word.cpu_s
    if end.cut is not None:
        return Exit(kind=end.cut.kind, limit=end.cut.limit, wall_s=end.wall_s, cpu_s=cpu_s)
    match end.word:
        case LastWord("exited", code):
            return Exit(kind=ExitKind.EXITED, code=code, wall_s=end.wall_s, cpu_s=cpu_s)
        case LastWord("signaled", number):
            return by_signal(number, end.wall_s, cpu_s)
        case LastWord("exec", number):
            raise SandboxCommandError(f"{spec.argv[0]!r} could not be executed in the container: {os.strerror(number)}")
        case LastWord("chdir", number):
            raise SandboxError(f"working directory {spec.cwd!r} can't be entered inside: {os.strerror(number)}")
        case LastWord(kind, number):
            raise SandboxError(f"the container's init could not start {spec.argv[0]!r}: {kind} {number}")
        case None:
            said = end.message or "nothing"
            raise SandboxError(f"the container of {spec.argv[0]!r} was ended from outside; the engine says {said!r}")
