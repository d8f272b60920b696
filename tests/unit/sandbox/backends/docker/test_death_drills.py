"""The drills of death in docker: whoever still beats fails them, and so does who never did."""

import threading
from dataclasses import dataclass, field

import pytest

from sandbox.backends.docker.death_drills import killing, lifeline
from sandbox.backends.verdicts import REPORT
from sandbox.errors import SandboxError
from sandbox.spec import Exit, ExitKind


@dataclass
class Beating:
    """A backend whose daemons, four or so, beat until they are stopped, or their lifeline is cut, or for ever."""

    daemons: int = 4
    dies_when_stopped: bool = True
    dies_when_cut: bool = True
    dead: threading.Event = field(default_factory=threading.Event)
    is_cut: bool = False

    def run(self, spec, _sink, stop):
        (out,) = (bind.source for bind in spec.binds)
        (out / "beats").touch()
        for number in range(self.daemons):
            (out / f"up-{number}").touch()
        beating = threading.Thread(target=self._beat, args=(out / "beats",), daemon=True)
        beating.start()
        while self.daemons == 4 and not stop():
            pass
        if self.is_cut and self.dies_when_cut:
            raise SandboxError("ended from outside")
        if self.dies_when_stopped:
            self.dead.set()
            beating.join()
        return Exit(ExitKind.STOPPED, 0.1)

    def cut_lifeline(self):
        self.is_cut = True
        if self.dies_when_cut:
            self.dead.set()

    def _beat(self, file):
        with file.open("a") as beats:
            while not self.dead.wait(0.01):
                beats.write("beat")
                beats.flush()


@pytest.fixture
def told(tmp_path):
    """Run a drill over a backend, and let nobody beat after that."""

    def _told(drill, backend):
        probe = drill(backend, tmp_path, within_s=0.5)
        backend.dead.set()
        return probe.ok, probe.detail, probe.fix

    return _told


def test_a_tree_that_dies_passes_both(told):
    assert [told(drill, Beating())[0] for drill in (killing, lifeline)] == [True, True]


def test_who_outlives_its_run_fails(told):
    backend = Beating(dies_when_stopped=False)
    assert told(killing, backend) == (False, "a tree of daemons outlives its run", REPORT)


def test_who_outlives_its_lifeline_fails(told):
    backend = Beating(dies_when_cut=False)
    assert told(lifeline, backend) == (False, "a tree of daemons lives 0 s after it was cut", REPORT)


@pytest.mark.parametrize("drill", [killing, lifeline])
def test_a_tree_that_never_stood_as_a_whole_proves_nothing(told, drill):
    is_ok, detail, _ = told(drill, Beating(daemons=3))
    assert (is_ok, detail.startswith("the drill did not start")) == (False, True)
