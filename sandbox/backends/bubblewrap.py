"""The bubblewrap backend: one run is one bubblewrap, started, watched, ended and proven dead.

Bubblewrap run by uid 0 contains nothing (its guest may overwrite /proc/sys), so a root worker gives root up first,
to a uid that belongs to the slot alone.
"""

import hashlib
import os
import time
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from socket import socket

from sandbox import limits
from sandbox.backends import failures, host_facts, plan, preflight, program, refusals, slots, tool_rooms, workroot
from sandbox.backends.bubblewrap_room import BubblewrapRoom, used
from sandbox.backends.cuts import Asked, Cut, Cuts, by_signal, late_cut, with_usage
from sandbox.backends.drills import NOT_HELD
from sandbox.backends.naive import Naive
from sandbox.backends.watch import Watch
from sandbox.errors import SandboxCommandError, SandboxError
from sandbox.limits import Bounds, Found, Group
from sandbox.process.launch import Launch, Running, launch
from sandbox.process.spawner import FIRST_SOURCE_FD, REPORT_FD, SECCOMP_FD, STATUS_FD, Spawner
from sandbox.process.tools import prepare, prepare_tool
from sandbox.process.tree import Ending
from sandbox.seccomp import architecture_here
from sandbox.seccomp import program as seccomp_program
from sandbox.spec import Exit, ExitKind, Facts, Probe, SandboxSpec, Sink, Stream
from sandbox.streams import Outlet, over_cap


class Bubblewrap:
    """Runs specs under bubblewrap. `root` is the work root: trusted, kept, searchable by the slots' uids."""

    images = None

    def __init__(self, root: Path, compiler: str | None = None) -> None:
        """Make ready below `root`. Raises SandboxUnavailableError, which says what is missing and how to get it.

        `compiler` is a C compiler's path, "" to do without; by default one is looked for.
        """
        root = workroot.ready(root)
        self._architecture = architecture_here()
        self._tools = prepare(root / "bin", compiler)
        self._tool = prepare_tool(root / "bin", compiler)
        self._drops = os.geteuid() == 0
        self._program = program.find(self._drop())
        self._spawner = Spawner(self._tools.spawner_words, program.BARE_ENV)
        self._found = limits.find()
        self._host = host_facts.read(root)
        if self._found.groups is not None:
            weakref.finalize(self, self._found.groups.close)
            self._found.groups.clear_leftovers()
        self._layout = plan.HostLayout(
            roots=plan.root_links(),
            etc=workroot.write_etc(root / "etc", plan.SYNTHETIC_ETC),
            init=self._tools.init,
            init_words=self._tools.init_words,
            can_disable_userns=self._program.can_disable_userns,
        )

    def run(self, spec: SandboxSpec, sink: Sink, stop: Callable[[], bool]) -> Exit:
        """Run `spec` to its end, as `Sandbox.run` says.

        `cpu_s` has the few milliseconds of set-up in it. Without control groups it is what the kernel accounted to
        bubblewrap and every process that somebody waited for: a child whose parent ignores SIGCHLD is missing.
        Raises SandboxCommandError when the sandbox stood but the command could not be executed.
        """
        refusals.refuse_image(spec, "bubblewrap")
        filter_ = seccomp_program(self._architecture)

        def start(room: SandboxSpec, listener: socket, _place: Path) -> BubblewrapRoom:
            group = self._group(room, stack)
            return BubblewrapRoom(room, self._launched(room, filter_, group, listener.fileno()), group)

        with ExitStack() as stack, tool_rooms.beside(spec, self._tool.path, self.owner(spec.slot), start) as both:
            both.ended = self._run(both.session, sink, Asked(stop, both.groups), filter_)
        return both.whole()

    def close(self) -> None:
        """Remove our folder of control groups, and end the spawner, so that what it used is accounted to us."""
        if self._found.groups is not None:
            self._found.groups.close()
        self._spawner.close()

    def facts(self) -> Facts:
        """Say what enforces the containment."""
        return {
            "backend": "bubblewrap",
            "bubblewrap": self._program.version,
            "bubblewrap_path": str(self._program.path),
            "bubblewrap_sha256": self._program.digest,
            "seccomp": str(self._architecture),
            "seccomp_sha256": hashlib.sha256(seccomp_program(self._architecture)).hexdigest(),
            "userns_disabled": self._program.can_disable_userns,
            "bind_sources": "opened by us" if self._program.can_bind_open else "opened by name, after we looked",
            "init": self._tools.init_kind,
            "init_sha256": self._tools.init_digest,
            "forwarder": self._tools.init_kind,
            "tool": self._tool.kind,
            "launcher": self._tools.launcher_kind if self._drops else None,
            "spawner": self._tools.spawner_kind,
            "not_native": self._tools.not_native or self._tool.not_native,
            "uids": "one per slot" if self._drops else "the worker's own",
            **_limits_told(self._found),
            "disk": "per file, by RLIMIT_FSIZE; no cap on a bind's total",
            **self._host,
        }

    def owner(self, slot: int) -> tuple[int, int]:
        """Give the host uid and gid that run `slot`: its own, or the worker's where the worker isn't root."""
        return slots.owner(slot, drops=self._drops)

    def preflight(self, scratch: Path) -> tuple[Probe, ...]:
        """Prove containment by effect below `scratch`, as `Sandbox.preflight` says."""
        return preflight.probe(self, scratch)

    def run_unfiltered(self, spec: SandboxSpec, sink: Sink, stop: Callable[[], bool]) -> Exit:
        """Run without the system-call filter: for probes of what holds when the filter does not. Never for guests."""
        return self._run(spec, sink, Asked(stop), None)

    def cut_lifeline(self) -> None:
        """Close the spawner's lifeline and do nothing else, for the same purpose; `close` before the next run."""
        self._spawner.cut()

    def naive(self) -> Naive:
        """Give the bubblewrap alone, for the same purpose."""
        return Naive(self._program.path, self._drop())

    def _run(self, spec: SandboxSpec, sink: Sink, asked: Asked, seccomp: bytes | None) -> Exit:
        refusals.refuse_unsafe(spec)
        started = time.monotonic()
        with ExitStack() as stack:
            group = self._group(spec, stack)
            running = self._launched(spec, seccomp, group)
            stack.callback(running.close)
            if self._found.groups is not None:
                self._found.groups.make_ready()
            outlets = _outlets(running, sink, spec.limits.output_bytes)
            cuts = Cuts(spec.limits, outlets, asked if group is None else asked.of(group))
            try:
                cut = Watch(running.tree, outlets, cuts).until_end()
            finally:
                # Whatever the sink or `stop` raised: nothing lives on.
                ending = running.tree.end()
            wall_s = time.monotonic() - started
            for outlet in outlets:
                outlet.drain()
            usage = used(spec, ending, group)
            exit_ = _exit_of(spec, ending, outlets, cut or late_cut(outlets, usage), wall_s)
            return replace(with_usage(exit_, usage), cut=over_cap(outlets))

    def _group(self, spec: SandboxSpec, stack: ExitStack) -> Group | None:
        """Make what holds `spec` to its bounds, where this machine has such; it is removed with `stack`."""
        if self._found.groups is None:
            return None
        group = self._found.groups.make()
        stack.callback(group.remove)
        bounds = Bounds(
            memory_bytes=spec.limits.memory_bytes,
            processes=spec.limits.processes + plan.ours_inside(spec) + 1,  # and bubblewrap itself
            cpus=spec.limits.cpus,
        )
        group.hold_to(bounds)
        return group

    def _launched(
        self, spec: SandboxSpec, seccomp: bytes | None, group: Group | None, listener: int | None = None
    ) -> Running:
        """Start it, with the very sources that were looked at where this bubblewrap takes them open."""
        with ExitStack() as opened:
            sources = []
            for bind in spec.binds if self._program.can_bind_open else ():
                sources.append(refusals.open_plain("bind source", bind.source))
                opened.callback(os.close, sources[-1])
            order = self._order(spec, seccomp, group, len(sources))
            return launch(self._spawner, replace(order, sources=tuple(sources), listener=listener))

    def _order(self, spec: SandboxSpec, seccomp: bytes | None, group: Group | None, sources: int) -> Launch:
        numbers = tuple(range(FIRST_SOURCE_FD, FIRST_SOURCE_FD + sources))
        fds = plan.PlanFds(STATUS_FD, None if seccomp is None else SECCOMP_FD, numbers)
        return Launch(
            program=str(self._program.path),
            options=plan.options(spec, self._layout, fds),
            command=plan.command(spec, self._layout, REPORT_FD, is_grouped=group is not None),
            stdin=spec.stdin,
            seccomp=seccomp,
            owner=self.owner(spec.slot),
            drops=self._is_dropping(),
            fold=group,
        )

    def _drop(self) -> tuple[str, ...]:
        return self._tools.drop(*self.owner(0)) if self._is_dropping() else ()

    def _is_dropping(self) -> bool:
        if os.geteuid() == 0 and not self._drops:
            raise SandboxError("this backend was made by an ordinary user and is now root; make a new one")
        return self._drops


def _outlets(running: Running, sink: Sink, cap: int) -> tuple[Outlet, ...]:
    return (Outlet(running.stdout, Stream.STDOUT, sink, cap), Outlet(running.stderr, Stream.STDERR, sink, cap))


def _limits_told(found: Found) -> Facts:
    if found.groups is None:
        return {
            "limits": "rlimits only",
            "no_cgroups": found.reason,
            "memory": "each process's private memory, by RLIMIT_DATA; shared memory is not held",
            "socket_memory": NOT_HELD,
            "processes": "per sandbox, by RLIMIT_NPROC in its own user namespace (kernel 5.14 or newer)",
        }
    return {
        "limits": found.groups.kind,
        "memory": "per sandbox, what it keeps in /tmp included, by its control group",
        "socket_memory": "per sandbox, by its control group" if found.groups.holds_sockets else NOT_HELD,
        "processes": "per sandbox, by its control group",
    }


def _exit_of(spec: SandboxSpec, ending: Ending, outlets: tuple[Outlet, ...], cut: Cut | None, wall_s: float) -> Exit:
    """Make the exit out of what the init reported: bubblewrap's own code can't tell exit 137 from signal 9."""
    if cut is not None:
        return Exit(kind=cut.kind, limit=cut.limit, wall_s=wall_s, cpu_s=ending.cpu_s)
    match ending.words:
        case [["started", _], ["exited", code]]:
            return Exit(kind=ExitKind.EXITED, code=int(code), wall_s=wall_s, cpu_s=ending.cpu_s)
        case [["started", _], ["signaled", number]]:
            return by_signal(int(number), wall_s, ending.cpu_s)
        case [["started", _], ["exec", number], *_]:
            reason = os.strerror(int(number))
            raise SandboxCommandError(f"{spec.argv[0]!r} could not be executed in the sandbox: {reason}")
        case [["started", _]]:
            raise SandboxError(
                f"the sandbox of {spec.argv[0]!r} was killed from outside; look in the kernel's log for lack of memory"
            )
        case []:
            raise SandboxError(failures.explain(outlets[1].head.decode(errors="replace")))
        case _:
            raise SandboxError(f"the sandbox's init could not start {spec.argv[0]!r}: {ending.report.strip()!r}")
