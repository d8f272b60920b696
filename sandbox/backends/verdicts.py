"""What a witness saw, judged: one line for each effect, in words for whoever runs this host.

A verdict needs its control: what must fail inside has to succeed where the protection is taken away, or the witness
is blind and proves nothing.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.spec import Probe

OUT = "/cell/out"
WRITTEN = f"{OUT}/written"
HIDDEN_VARIABLE = "PREFLIGHT_HIDDEN"
REPORT = "containment is broken on this host: run nothing here, and report these details"
_ENV = ("HOME", "LANG", "PATH", "PWD", "TMPDIR", "USER")
_NO_POWERS = "0" * 16


@dataclass(frozen=True, slots=True)
class Sight:
    """What can be seen and reached from where the witness is: an errno's name, or `done`, for each try."""

    fds: list[int]
    env: list[str]
    """Names in every environment that can be read."""
    pids: int
    host_pid: str
    interfaces: list[str]
    vsock: str
    tcp: str
    abstract: str
    pathname: str
    seen: list[str]
    segments: int


@dataclass(frozen=True, slots=True)
class Testimony:
    """What the witness saw inside."""

    sight: Sight
    ids: list[int]
    groups: list[int]
    setgroups: str
    uid_map: int
    namespaces: dict[str, str]
    status: dict[str, str]
    userns: str
    writes: dict[str, str]


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The same questions asked three times: under the whole plan, without the filter, and outside."""

    inside: Testimony
    unfiltered: Testimony
    outside: Sight
    leaked: int
    """A descriptor that the witness outside inherited."""
    hidden: tuple[str, ...]
    """Files of the host that only the witness outside may see."""


@dataclass(frozen=True, slots=True)
class HostSide:
    """Who the guest is on the host."""

    owner: tuple[int, int]
    written_by: tuple[int, int]
    """The owner of a file that the witness wrote."""


def judged(name: str, saw: object, expected: object, meaning: str, fix: str = REPORT) -> Probe:
    """Compare; `meaning` says in words what it is when it is as expected."""
    if saw == expected:
        return Probe(name, ok=True, detail=meaning)
    return Probe(name, ok=False, detail=f"{meaning}: expected {_told(expected)}, saw {_told(saw)}", fix=fix)


def _told(value: object) -> str:
    match value:
        case list() | tuple():
            return ", ".join(str(one) for one in value) or "none"
        case dict():
            return ", ".join(f"{key}: {one}" for key, one in value.items()) or "none"
        case _:
            return str(value)


def identity(saw: Testimony, host: HostSide) -> Iterator[Probe]:
    """Judge who the guest is, inside and on the host."""
    yield judged("ids", saw.ids, [1000] * 6, "user and group 1000 inside")
    yield judged("host's ids", host.written_by, host.owner, f"uid {host.owner[0]}, gid {host.owner[1]} on the host")
    yield Probe("not root on the host", ok=0 not in host.written_by, detail=f"uid {host.written_by[0]}", fix=REPORT)
    others = [group for group in saw.groups if group not in (1000, 65534)]
    yield judged("groups", others, [], "no group of the host's")
    yield judged("user mapping", [saw.uid_map, saw.setgroups], [1, "deny"], "one user mapped, groups can't be set")
    yield judged("environment", tuple(saw.sight.env), _ENV, "the six variables of the plan and no other")
    yield judged("descriptors", saw.sight.fds, [0, 1, 2], "the three standard ones")
    yield judged("processes seen", saw.sight.pids, 2, "the init and itself")
    yield judged("host's processes", saw.sight.host_pid, "ESRCH", "can't be named")


def walls(saw: Testimony, bare: Testimony) -> Iterator[Probe]:
    """Judge namespaces, powers and the filter."""
    host = {name: os.readlink(f"/proc/self/ns/{name}") for name in saw.namespaces}  # noqa: PTH115 (no path)
    shared = [name for name, number in saw.namespaces.items() if number == host[name]]
    yield judged("namespaces", shared, [], "none is shared with the host")
    powers = sorted({value for key, value in saw.status.items() if key.startswith("Cap")})
    yield judged("capabilities", powers, [_NO_POWERS], "none, and none to gain")
    yield judged("no new privileges", saw.status.get("NoNewPrivs"), "1", "setuid programs give nothing")
    filters = (saw.status.get("Seccomp"), bare.status.get("Seccomp"))
    yield judged("system-call filter", filters, ("2", "0"), "on; the control without it has none")
    yield judged("user namespaces", saw.userns, "EPERM", "refused by the filter")
    fix = "install bubblewrap 0.8 or newer"
    yield judged("namespaces, unfiltered", bare.userns, "ENOSPC", "refused by the kernel's count too", fix)


def doors(saw: Witnesses) -> Iterator[Probe]:
    """Judge whom and what the guest can reach."""
    sight = saw.inside.sight
    yield judged("interfaces", sight.interfaces, ["lo"], "an empty loopback of its own")
    yield judged("host's loopback", sight.tcp, "ECONNREFUSED", "out of reach")
    yield judged("host's sockets", (sight.abstract, sight.pathname), ("ECONNREFUSED", "ENOENT"), "out of reach")
    yield judged("machine sockets", sight.vsock, "EAFNOSUPPORT", "refused by the filter")
    yield judged("host's files", sight.seen, [OUT], "none but the bind")
    yield judged("shared memory", sight.segments, 0, "no segment of the host's")
    opened = [path for path, end in saw.inside.writes.items() if end == "done"]
    yield judged("writable places", opened, [WRITTEN], "only its own bind")


def controls(saw: Witnesses) -> Iterator[Probe]:
    """Judge whether the witness has eyes: outside, each of its tries must succeed."""
    outside = saw.outside
    detects = {
        "a descriptor": saw.leaked in outside.fds,
        "a variable": HIDDEN_VARIABLE in outside.env,
        "a process": outside.host_pid in {"done", "EPERM"},
        "the loopback": outside.tcp == "done",
        "an abstract socket": outside.abstract == "done",
        "a socket's path": outside.pathname == "done",
        "files": set(saw.hidden) <= set(outside.seen),
        "shared memory": outside.segments > 0,
    }
    blind = [name for name, is_seen in detects.items() if not is_seen]
    yield judged("witness", blind, [], "outside the sandbox it sees all that it must not see inside", BLIND)
    vsock = saw.unfiltered.sight.vsock
    made = "made without the filter" if vsock == "done" else "this kernel has none"
    yield judged("machine sockets, control", vsock, outside.vsock, made, BLIND)


BLIND = "preflight can't judge this host: look at what stands in the way of a plain connection or file"


def sight_of(text: bytes) -> Sight:
    """Make a sight of what the witness outside printed."""
    return Sight(**json.loads(text))


def testimony_of(text: bytes) -> Testimony:
    """Make a testimony of what a witness inside printed."""
    said = json.loads(text)
    return Testimony(**{**said, "sight": Sight(**said["sight"])})
