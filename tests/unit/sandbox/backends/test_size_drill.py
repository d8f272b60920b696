"""The drill for sizes: each limit holds at its number, under two numbers, or it fails."""

from dataclasses import dataclass

import pytest

from sandbox.backends.size_drill import memory_file_systems, sizes
from sandbox.backends.verdicts import REPORT
from sandbox.errors import SandboxError
from sandbox.spec import Exit, ExitKind, Stream

KIB = 1 << 10


@dataclass
class Sized:
    """A backend whose guest gets what the limits say, or what else holds it up."""

    holds: bool = True
    most_bytes: int = 256 * KIB
    code: int = 0

    def run(self, spec, sink, _stop):
        (out,) = (bind.source for bind in spec.binds)
        grown = min(spec.limits.file_size_bytes if self.holds else 256 * KIB, self.most_bytes)
        (out / "grown").write_bytes(bytes(grown))
        taken = min(spec.limits.tmp_bytes if self.holds else 320 * KIB, self.most_bytes)
        for piece in range(taken // (64 * KIB)):
            sink(Stream.STDOUT, b"%d\n" % piece)
        return Exit(ExitKind.EXITED, 0.1, code=self.code)


def failed(backend, out):
    return {probe.name: probe.fix for probe in sizes(backend, out) if not probe.ok}


def test_sizes_that_hold_at_both_numbers_pass(tmp_path):
    assert [(probe.name, probe.ok) for probe in sizes(Sized(), tmp_path)] == [
        ("file size", True),
        ("size of /tmp", True),
    ]


def test_sizes_that_are_not_held_are_broken_containment(tmp_path):
    assert failed(Sized(holds=False), tmp_path) == {"file size": REPORT, "size of /tmp": REPORT}


@pytest.mark.parametrize(
    ("most", "names"),
    [(0, ["file size", "size of /tmp"]), (100 * KIB, ["file size", "size of /tmp"]), (200 * KIB, ["size of /tmp"])],
)
def test_what_is_held_by_something_else_proves_nothing(most, names, tmp_path):
    assert list(failed(Sized(most_bytes=most), tmp_path)) == names


def test_a_guest_that_does_not_finish_is_an_error(tmp_path):
    with pytest.raises(SandboxError, match="did not finish, exited 127"):
        list(sizes(Sized(code=127), tmp_path))


class Filled:
    """A backend whose guest's places take that much."""

    def __init__(self, **came):
        self._came = came

    def run(self, spec, sink, _stop):
        for place in spec.argv[4:]:
            sink(Stream.STDOUT, f"{place} {self._came[place.strip('/')]}\n".encode())
        return Exit(ExitKind.EXITED, 0.1, code=0)


@pytest.mark.parametrize(
    ("tmp", "run", "is_ok"),
    [("all", "some", True), ("all", "all", False), ("some", "some", False), ("all", "none", False)],
)
def test_a_place_fills_up_where_a_larger_one_does_not(tmp, run, is_ok):
    assert memory_file_systems(Filled(tmp=tmp, run=run), "/run").ok is is_ok
