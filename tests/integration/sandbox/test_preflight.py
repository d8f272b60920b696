"""Preflight of bubblewrap: fit hosts pass, a backend with a hole does not, and people can read the lines."""

import os
import subprocess
from dataclasses import dataclass, replace
from typing import Any

import pytest

from sandbox import limits
from sandbox.backends import preflight
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.backends.processor_drill import processors
from tests.builders.sandbox_rooms import alone, bubblewrap, system_python, users, work_root


@dataclass
class Holed:
    """A backend that keeps all but one promise."""

    inner: Bubblewrap
    filtered: bool = True
    loosened: tuple[tuple[str, Any], ...] = ()
    is_careless: bool = False

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def run(self, spec, sink, stop):
        if self.is_careless and len(spec.binds) > 1:
            spec = replace(spec, binds=spec.binds[:1])
        spec = replace(spec, limits=replace(spec.limits, **dict(self.loosened)))
        is_plain = self.filtered or spec.tools is not None  # rooms are made for filtered sessions alone
        return (self.inner.run if is_plain else self.inner.run_unfiltered)(spec, sink, stop)


def broken(**hole):
    probes = preflight.probe(Holed(bubblewrap(), **hole), work_root() / "scratch")
    return {probe.name for probe in probes if not probe.ok}


@pytest.mark.parametrize("user", users())
def test_a_fit_host_passes_for_every_user_and_the_lines_are_for_people(user):
    probes = alone(user, {"do": "preflight"})
    assert [probe for probe in probes if not probe["ok"]] == []
    assert len({probe["name"] for probe in probes}) == len(probes) > 30
    assert [probe for probe in probes if len(probe["name"]) > 24 or set(probe["detail"]) & set("{}[]()")] == []


def test_a_backend_without_the_filter_fails():
    assert broken(filtered=False) == {"system-call filter", "user namespaces", "machine sockets"}


def test_limits_that_are_not_held_fail():
    sizes = (("file_size_bytes", 1 << 30), ("tmp_bytes", 1 << 30), ("memory_bytes", 1 << 30))
    counts = (("processes", 64), ("open_files", 256))
    names = {"file size", "size of /tmp", "memory", "memory in sockets"}
    assert broken(loosened=(*sizes, *counts)) == {*names, "number of processes", "open files"}


NO_CAP = (("cpus", None),)
needs_groups = pytest.mark.skipif(limits.find().groups is None, reason="this machine gives no control groups")


@needs_groups
def test_processor_time_that_is_not_held_fails():
    assert broken(loosened=NO_CAP) == {"processor time"}


@pytest.fixture
def busy():
    loops = [subprocess.Popen((system_python(), "-c", "while True: pass")) for _ in range(4 * os.cpu_count())]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


@needs_groups
@pytest.mark.usefixtures("busy")
def test_a_busy_machine_is_neither_called_broken_nor_does_it_hide_a_cap_that_is_left_out():
    assert [processors(bubblewrap()).ok for _ in range(3)] == [True] * 3
    assert [processors(Holed(bubblewrap(), loosened=NO_CAP)).ok for _ in range(3)] == [False] * 3


def test_a_backend_that_does_not_refuse_a_mount_below_a_bind_fails():
    assert broken(is_careless=True) == {"mounts below binds"}


def test_nothing_is_left_of_it():
    preflight.probe(bubblewrap(), work_root() / "scratch")
    assert list((work_root() / "scratch").iterdir()) == []
