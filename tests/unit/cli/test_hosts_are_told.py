"""What `farm hosts` says of a host, in the words that somebody reads at night."""

from datetime import UTC, datetime, timedelta

import pytest

from farm.cli import hosts
from farm.model import Host, Machine

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GIB = 1 << 30


def a_host(**changes: object) -> Host:
    host = Host(id="h/1", slots=4, busy=1, version="0", sandbox="docker", seen_at=NOW - timedelta(seconds=3))
    return host.model_copy(update=changes)


def test_a_host_that_works_is_one_line() -> None:
    assert hosts.describe(a_host(), NOW) == ["h/1: 1/4 slots busy, heartbeat 3 s ago, sandbox docker, farm 0"]


def test_a_host_that_takes_nothing_says_why_and_how_to_change_it() -> None:
    said = hosts.describe(a_host(slots=0, draining="drained by eve", problem="the init is not dead"), NOW)
    assert said == [
        "h/1: 1 cells still run, heartbeat 3 s ago, sandbox docker, farm 0",
        "  takes nothing more: the init is not dead",
        "  takes nothing more: drained by eve; `farm undrain h` lets it work again",
    ]


@pytest.mark.parametrize(
    ("skew_s", "words"),
    [
        (2.04, ["  its clock is 2.0 s ahead of Redis'; its records' times are as wrong"]),
        (-2.0, ["  its clock is 2.0 s behind Redis'; its records' times are as wrong"]),
        (0.9, []),
        (None, []),
    ],
)
def test_a_clock_that_is_wrong_by_more_than_a_second_is_told(skew_s: float | None, words: list[str]) -> None:
    assert hosts.describe(a_host(skew_s=skew_s), NOW)[1:] == words


def test_the_age_of_a_heartbeat_is_that_of_the_registrys_clock() -> None:
    ahead = a_host(seen_at=NOW + timedelta(seconds=57), skew_s=60.0)
    assert "heartbeat 3 s ago" in hosts.describe(ahead, NOW)[0]


def test_a_machine_is_told_with_what_is_free() -> None:
    machine = Machine(
        architecture="x86_64",
        kernel="Linux 6.1.0",
        cpus=2,
        load=1.26,
        memory_bytes=8 * GIB,
        memory_free_bytes=3 * GIB,
        disk_bytes=100 * GIB,
        disk_free_bytes=40 * GIB,
        inodes=1000,
        inodes_free=257,
    )
    assert hosts.describe(a_host(machine=machine), NOW)[1:] == [
        "  x86_64, Linux 6.1.0, 2 CPUs, load 1.3; free: memory 3.0 of 8.0 GiB, disk 40.0 of 100.0 GiB, 25% of inodes"
    ]
    bare = machine.model_copy(update={"memory_bytes": None, "inodes": None, "inodes_free": None})
    assert hosts.describe(a_host(machine=bare), NOW)[1:] == [
        "  x86_64, Linux 6.1.0, 2 CPUs, load 1.3; free: disk 40.0 of 100.0 GiB"
    ]
