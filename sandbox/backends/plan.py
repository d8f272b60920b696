"""The mount and namespace plan: every word that bubblewrap gets, as a pure function of spec and host.

The root is denied by default: an empty tmpfs on which only what is named here appears, and which is read-only in the
end. All six namespaces are asked for by name: `--unshare-all` would go on without two of them. Every tmpfs has a size:
the default is half of the machine's memory. `--new-session` stands beside the filter's TIOCSTI rule: either is enough.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.spec import DOOR, TMP, Bind, SandboxSpec, Scratch

GUEST_ID = 1000
INIT = "/.init"
DEFAULT_ENV = {"LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": TMP, "USER": "agent"}
_TERMINALS = "/dev/pts"
"""Over bubblewrap's own, which has no bound: the instance that the spawner mounted for this run alone."""
_SHM_BYTES = 64 << 20
_RUN_BYTES = 16 << 20
_NO_BOUND = 1 << 62
_HOST_ETC = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/certs", "/etc/ssl/openssl.cnf")
_ROOT_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")

SYNTHETIC_ETC = {
    "passwd": "root:x:0:0::/nonexistent:/usr/sbin/nologin\nagent:x:1000:1000::/home/agent:/bin/sh\n"
    "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n",
    "group": "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files\n",
}


@dataclass(frozen=True, slots=True)
class HostLayout:
    """What of this host's root the plan needs to know."""

    roots: tuple[tuple[str, str], ...]
    """bin, lib and so on: each with what it links to."""
    etc: Path
    """Where the synthetic files are."""
    init: Path
    init_words: tuple[str, ...]
    can_disable_userns: bool


@dataclass(frozen=True, slots=True)
class PlanFds:
    """The numbers of the descriptors that bubblewrap inherits."""

    status: int
    seccomp: int | None
    """None only where preflight shows what holds without the filter."""
    sources: tuple[int, ...] = ()
    """The binds' sources, already open; none where this bubblewrap takes names alone."""


def root_links() -> tuple[tuple[str, str], ...]:
    """Give the links in this host's root that lead into /usr."""
    links = (Path("/", name) for name in _ROOT_LINKS)
    return tuple((str(link), str(link.readlink())) for link in links if link.is_symlink())


def options(spec: SandboxSpec, host: HostLayout, fds: PlanFds) -> tuple[str, ...]:
    """Give every option of bubblewrap. The command is no option: `--args` has no room for it; see `command`."""
    return (
        *_namespaces(host),
        *_identity(spec),
        *_system(host),
        *_private(spec),
        *_binds(spec.binds, fds.sources),
        *_scratch(spec.scratch),
        *(() if spec.door is None else ("--ro-bind", str(spec.door.socket), DOOR)),
        *("--remount-ro", "/", "--chdir", spec.cwd, "--json-status-fd", str(fds.status)),
        *(() if fds.seccomp is None else ("--seccomp", str(fds.seccomp))),
    )


def command(spec: SandboxSpec, host: HostLayout, report: int, *, is_grouped: bool = False) -> tuple[str, ...]:
    """Give the words to execute inside: our init, which holds the limits, then the guest's own argv.

    With a control group around it all, that holds memory and processes; the rlimits of the one would forbid what only
    reserves memory, and those of the other stand behind the group's, one looser, so that the group counts first.
    """
    limits = spec.limits
    port = 0 if spec.door is None else spec.door.port
    processes = limits.processes + ours_inside(spec) + is_grouped
    memory = _NO_BOUND if is_grouped else limits.memory_bytes
    bounds = (limits.file_size_bytes, limits.open_files, processes, memory, port)
    return (*host.init_words, INIT, str(report), *(str(bound) for bound in bounds), *spec.argv)


def ours_inside(spec: SandboxSpec) -> int:
    """Count the processes inside that are not the guest's: the init and, with a door, the forwarder."""
    return 1 if spec.door is None else 2


def is_tmp_bound(spec: SandboxSpec) -> bool:
    """Tell whether a bind is the guest's temporary folder."""
    return any(bind.target == TMP for bind in spec.binds)


def is_home_bound(spec: SandboxSpec) -> bool:
    """Tell whether the guest's home is in one of its binds, so that none is made for it."""
    return any(spec.home == bind.target or spec.home.startswith(f"{bind.target}/") for bind in spec.binds)


def _namespaces(host: HostLayout) -> Iterator[str]:
    yield from (
        "--unshare-user",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-uts",
        "--unshare-cgroup",
    )
    if host.can_disable_userns:
        yield from ("--disable-userns", "--assert-userns-disabled")


def _identity(spec: SandboxSpec) -> Iterator[str]:
    yield from ("--uid", str(GUEST_ID), "--gid", str(GUEST_ID), "--hostname", "cell", "--cap-drop", "ALL")
    yield from ("--die-with-parent", "--new-session", "--as-pid-1", "--clearenv")
    for key, value in sorted({**DEFAULT_ENV, "HOME": spec.home, **spec.env}.items()):
        yield from ("--setenv", key, value)


def _system(host: HostLayout) -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for link, target in host.roots:
        yield from ("--symlink", target, link)
    yield from ("--dir", "/etc", "--dir", "/etc/ssl")
    for path in _HOST_ETC:
        yield from ("--ro-bind-try", path, path)
    for name in SYNTHETIC_ETC:
        yield from ("--ro-bind", str(host.etc / name), f"/etc/{name}")
    yield from ("--ro-bind", str(host.init), INIT)


def _private(spec: SandboxSpec) -> Iterator[str]:
    yield from ("--proc", "/proc", "--dev", "/dev", "--dev-bind", _TERMINALS, _TERMINALS)
    yield from ("--size", str(_SHM_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev")  # noqa: S108 (a name inside the sandbox)
    if not is_tmp_bound(spec):
        yield from ("--size", str(spec.limits.tmp_bytes), "--perms", "1777", "--tmpfs", TMP)
    yield from ("--size", str(_RUN_BYTES), "--tmpfs", "/run")
    if not is_home_bound(spec):
        yield from ("--size", str(_RUN_BYTES), "--perms", "0700", "--tmpfs", spec.home)


def _binds(binds: tuple[Bind, ...], sources: tuple[int, ...]) -> Iterator[str]:
    made: set[str] = set()
    for number, bind in enumerate(binds):
        for folder in _parents(bind.target):
            if folder not in made:
                made.add(folder)
                yield from ("--dir", folder)
        option = "--bind" if bind.writable else "--ro-bind"
        if sources:
            yield from (f"{option}-fd", str(sources[number]), bind.target)
        else:
            yield from (option, str(bind.source), bind.target)


def _scratch(scratch: tuple[Scratch, ...]) -> Iterator[str]:
    for one in scratch:
        yield from ("--size", str(one.size_bytes), "--perms", "0755", "--tmpfs", one.target)


def _parents(target: str) -> list[str]:
    parent = posixpath.dirname(target)
    return [] if parent == "/" else [*_parents(parent), parent]
