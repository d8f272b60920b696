"""Verdicts: each thing that a guest must not see or do fails the probe of its name, and no other."""

import os
from dataclasses import replace
from typing import Any

import pytest

from sandbox.backends import verdicts
from sandbox.backends.verdicts import HIDDEN_VARIABLE, OUT, WRITTEN, HostSide, Sight, Witnesses

INSIDE = Sight(
    fds=[0, 1, 2],
    env=["HOME", "LANG", "PATH", "PWD", "TMPDIR", "USER"],
    pids=2,
    host_pid="ESRCH",
    interfaces=["lo"],
    vsock="EAFNOSUPPORT",
    tcp="ECONNREFUSED",
    abstract="ECONNREFUSED",
    pathname="ENOENT",
    seen=[OUT],
    segments=0,
)
OUTSIDE = Sight(
    fds=[0, 1, 2, 9],
    env=[HIDDEN_VARIABLE],
    pids=80,
    host_pid="EPERM",
    interfaces=["lo", "eth0"],
    vsock="done",
    tcp="done",
    abstract="done",
    pathname="done",
    seen=["/root", "/place/secret"],
    segments=1,
)
GOOD = verdicts.Testimony(
    sight=INSIDE,
    ids=[1000] * 6,
    groups=[1000, 65534],
    setgroups="deny",
    uid_map=1,
    namespaces={"net": "net:[1]"},
    status={"CapEff": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"},
    userns="EPERM",
    writes={"/usr/x": "EROFS", WRITTEN: "done"},
)
BARE = replace(GOOD, sight=replace(INSIDE, vsock="done"), status={"Seccomp": "0"}, userns="ENOSPC")
OWNER = (4_000_000_000, 4_000_000_000)
HOST = HostSide(owner=OWNER, written_by=OWNER)


def failed(
    inside: verdicts.Testimony = GOOD, bare: verdicts.Testimony = BARE, outside: Sight = OUTSIDE, host: HostSide = HOST
) -> list[str]:
    saw = Witnesses(inside, bare, outside, leaked=9, hidden=("/place/secret",))
    probes = (
        *verdicts.identity(inside, host),
        *verdicts.walls(inside, bare),
        *verdicts.doors(saw),
        *verdicts.controls(saw),
    )
    assert all(probe.fix for probe in probes if not probe.ok)
    return [probe.name for probe in probes if not probe.ok]


def test_a_guest_that_can_do_nothing_fails_nothing() -> None:
    assert failed() == []


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"fds": [0, 1, 2, 9]}, "descriptors"),
        ({"env": [*INSIDE.env, "KEY"]}, "environment"),
        ({"pids": 3}, "processes seen"),
        ({"host_pid": "EPERM"}, "host's processes"),
        ({"interfaces": ["lo", "eth0"]}, "interfaces"),
        ({"vsock": "done"}, "machine sockets"),
        ({"tcp": "done"}, "host's loopback"),
        ({"abstract": "done"}, "host's sockets"),
        ({"pathname": "done"}, "host's sockets"),
        ({"seen": [OUT, "/root"]}, "host's files"),
        ({"segments": 1}, "shared memory"),
    ],
)
def test_what_a_guest_sees_too_much_of_is_named(change: dict[str, Any], name: str) -> None:
    assert failed(replace(GOOD, sight=replace(INSIDE, **change))) == [name]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"ids": [0] * 6}, "ids"),
        ({"groups": [1000, 27]}, "groups"),
        ({"setgroups": "allow"}, "user mapping"),
        ({"uid_map": 2}, "user mapping"),
        ({"namespaces": {"net": os.readlink("/proc/self/ns/net")}}, "namespaces"),  # noqa: PTH115 (no path)
        ({"status": {**GOOD.status, "CapBnd": "1" * 16}}, "capabilities"),
        ({"status": {**GOOD.status, "NoNewPrivs": "0"}}, "no new privileges"),
        ({"status": {**GOOD.status, "Seccomp": "0"}}, "system-call filter"),
        ({"userns": "done"}, "user namespaces"),
        ({"writes": {"/usr/x": "done", WRITTEN: "done"}}, "writable places"),
        ({"writes": {"/usr/x": "EROFS", WRITTEN: "EROFS"}}, "writable places"),
    ],
)
def test_what_a_guest_can_do_too_much_of_is_named(change: dict[str, Any], name: str) -> None:
    assert failed(replace(GOOD, **change)) == [name]


@pytest.mark.parametrize(
    "change",
    [
        {"fds": [0, 1, 2]},
        {"env": []},
        {"host_pid": "ESRCH"},
        {"tcp": "ECONNREFUSED"},
        {"abstract": "ECONNREFUSED"},
        {"pathname": "ENOENT"},
        {"seen": []},
        {"segments": 0},
    ],
)
def test_a_witness_that_sees_nothing_outside_either_proves_nothing(change: dict[str, Any]) -> None:
    assert failed(outside=replace(OUTSIDE, **change)) == ["witness"]


def test_a_control_without_the_filter_that_is_refused_all_the_same_is_named() -> None:
    bare = replace(BARE, sight=replace(INSIDE, vsock="EAFNOSUPPORT"))
    assert failed(bare=bare) == ["machine sockets, control"]
    assert failed(bare=bare, outside=replace(OUTSIDE, vsock="EAFNOSUPPORT")) == []


def test_user_namespaces_that_only_the_filter_forbids_are_named() -> None:
    assert failed(bare=replace(BARE, userns="done")) == ["namespaces, unfiltered"]


def test_a_guest_that_writes_as_root_is_named() -> None:
    assert failed(host=replace(HOST, written_by=(0, 0))) == ["host's ids", "not root on the host"]
