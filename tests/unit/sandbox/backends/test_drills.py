"""The drills of the clock and of death: each sees what is not held, and what is only slow is looked at again."""

import fcntl
from contextlib import ExitStack

import pytest

from sandbox.backends.drills import killing, wall
from sandbox.backends.verdicts import REPORT
from sandbox.spec import Exit, ExitKind, Stream


class Daemons:
    """A backend whose guest holds the lock of the drill until it is stopped, or for ever."""

    def __init__(self, out, kept):
        self._out, self._kept = out, kept
        self.runs = 0

    def run(self, _spec, sink, stop):
        self.runs += 1
        with ExitStack() as guest:
            lock = (self._kept or guest).enter_context((self._out / "lock").open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
            sink(Stream.STDOUT, b"ready\n")
            assert stop()
        return Exit(ExitKind.STOPPED, 0.1)


def test_a_tree_that_dies_in_time_is_looked_at_once(tmp_path):
    backend = Daemons(tmp_path, None)
    assert (killing(backend, tmp_path, ()).ok, backend.runs) == (True, 1)


def test_a_slow_death_is_looked_at_again_before_it_fails_and_is_not_called_an_escape(tmp_path):
    backend = Daemons(tmp_path, None)
    probe = killing(backend, tmp_path, (), within_s=0)
    assert (probe.ok, probe.fix.startswith("processes die slowly here"), backend.runs) == (False, True, 3)


@pytest.mark.parametrize("within_s", [0, 60])
def test_survivors_fail_at_once(tmp_path, within_s):
    with ExitStack() as kept:
        backend = Daemons(tmp_path, kept)
        probe = killing(backend, tmp_path, (), within_s=within_s)
    assert (probe.ok, probe.detail, probe.fix) == (False, "a tree of daemons outlives its run", REPORT)
    assert backend.runs == 1


class Clocked:
    """A backend that ends a guest when its wall time is over, always or never."""

    def __init__(self, ends):
        self._ends = ends

    def run(self, spec, _sink, _stop):
        sleep_s = float(spec.argv[-1].removeprefix("sleep "))
        is_ended = self._ends if self._ends is not None else sleep_s > spec.limits.wall_s
        return Exit(ExitKind.LIMIT, 0.1, limit="wall") if is_ended else Exit(ExitKind.EXITED, 0.1, code=0)


@pytest.mark.parametrize(("ends", "is_ok"), [(None, True), (False, False), (True, False)])
def test_a_clock_passes_that_ends_who_is_late_and_nobody_else(ends, is_ok):
    assert wall(Clocked(ends)).ok is is_ok
