"""Preflight of the lifeline: a tree that outlives it, or that never stood, is told."""

import os
import secrets
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import pytest

from sandbox.backends.lifeline_drill import lifeline
from sandbox.spec import Bind
from sandbox.testing import Heard, script
from tests.builders.sandbox_rooms import bubblewrap, work_root
from tests.builders.sandbox_trees import spawners


@pytest.fixture(params=[None, ""], ids=["native", "python"])
def backend(request):
    return bubblewrap(request.param)


@pytest.fixture
def drill(backend):
    out = work_root() / f"lifeline-{secrets.token_hex(4)}"
    out.mkdir(mode=0o700)
    os.chown(out, *backend.owner(0))
    return partial(lifeline, out=out, binds=(Bind(out, "/cell/out", writable=True),))


class Holed:
    """A backend that keeps all but one promise."""

    def __init__(self, inner, cut=None, run=None):
        self._inner = inner
        self.cut_lifeline = cut or inner.cut_lifeline
        self.run = run or inner.run
        self.close = inner.close


def test_a_fit_host_passes_and_goes_on_with_a_new_spawner(backend, drill):
    backend.run(script("exit 0"), Heard(), lambda: False)
    before = set(spawners())
    probe = drill(backend)
    assert probe.ok, probe.detail
    assert len(before - set(spawners())) == 1
    assert backend.run(script("exit 3"), Heard(), lambda: False).code == 3


def test_a_lifeline_that_somebody_else_holds_open_fails(backend, drill):
    with ExitStack() as held:

        def hold():
            held.enter_context(os.fdopen(os.dup(backend._spawner._live.socket.fileno())))
            backend.cut_lifeline()

        probe = drill(Holed(backend, cut=hold), within_s=1)
    assert (probe.ok, probe.detail) == (False, "a tree of daemons lives on 1 s after it was closed")
    assert backend.run(script("exit 3"), Heard(), lambda: False).code == 3


def test_a_tree_that_does_not_live_while_it_is_open_proves_nothing(backend, drill):
    def gone(spec, sink, stop):
        text = "touch /cell/out/lock; echo ready; sleep 5"
        return backend.run(replace(spec, argv=("/bin/sh", "-c", text)), sink, stop)

    probe = drill(Holed(backend, run=gone))
    assert (probe.ok, probe.detail) == (False, "the drill did not start: stopped")


def test_a_tree_that_never_stands_is_told_by_its_end(backend, drill):
    def fails(spec, sink, stop):
        return backend.run(replace(spec, argv=("/bin/sh", "-c", "echo oh >&2; exit 3")), sink, stop)

    probe = drill(Holed(backend, run=fails))
    assert (probe.ok, probe.detail) == (False, "the drill did not start: exited 3")
