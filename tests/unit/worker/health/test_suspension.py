"""A host whose cells fail for its own reasons takes itself out of work, and comes back."""

from dataclasses import dataclass, field

from farm.testing.clock import FakeClock
from worker.health.streak import CellEnds
from worker.health.suspension import Suspension
from worker.health.trial import Proof


@dataclass
class ATrial:
    proof: Proof | None = None


@dataclass
class Bench:
    """A host whose cells' ends, preflights and time are the test's."""

    streak: int = 3
    clock: FakeClock = field(default_factory=FakeClock)
    ends: CellEnds = field(default_factory=CellEnds)
    trials: list[ATrial] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.host = Suspension(self.ends, self.begin, self.clock, self.streak)

    def begin(self) -> ATrial:
        self.trials.append(ATrial())
        return self.trials[-1]

    def fail(self, times: int = 3) -> str | None:
        for number in range(times):
            self.ends.tell(f"no disk {number}")
        self.host.look()
        return self.host.reason

    def prove(self, problem: str | None = None) -> str | None:
        self.host.look()
        self.trials[-1].proof = Proof(problem)
        self.host.look()
        return self.host.reason

    def later(self, seconds: float) -> int:
        """Let time pass, and count the preflights that were begun by then."""
        self.clock.advance(seconds)
        self.host.look()
        return len(self.trials)


BLAME = "drained itself: 3 cells running failed for reasons of this host, the last one: no disk 2"


def test_three_failures_running_take_a_host_out_until_its_preflight_holds() -> None:
    bench = Bench()
    assert bench.fail(2) is None
    bench.ends.tell(None)
    assert bench.fail(2) is None
    bench.ends.tell(None)
    assert bench.fail() == f"{BLAME}; its preflight runs"
    assert bench.later(0.1) == 1
    assert bench.later(99.0) == 1
    assert bench.host.reason is not None
    assert bench.prove() is None
    assert bench.fail(2) is None


def test_a_host_whose_preflight_fails_stays_out_says_why_and_tries_again_in_a_minute() -> None:
    bench = Bench()
    bench.fail()
    assert bench.prove("bwrap: gone") == f"{BLAME}; its preflight fails (bwrap: gone), and is tried again 60 s later"
    assert bench.later(59.0) == 1
    assert bench.later(1.0) == 2
    assert bench.prove() is None


def test_a_host_whose_cells_fail_although_its_preflight_holds_tries_less_and_less_often() -> None:
    bench, waits = Bench(), list[float]()
    for _ in range(8):
        bench.fail()
        begun, waited = len(bench.trials), 0.0
        while bench.later(0.0) == begun:
            bench.clock.advance(10.0)
            waited += 10.0
        waits.append(waited)
        assert bench.prove() is None
    assert waits == [0, 60, 120, 240, 480, 960, 1800, 1800]
    bench.ends.tell(None)
    bench.fail()
    assert bench.later(0.0) == 9


def test_a_person_lets_it_work_again_at_once() -> None:
    bench = Bench()
    bench.fail()
    bench.prove("bwrap: gone")
    bench.host.end()
    assert bench.host.reason is None
    assert bench.fail(2) is None
    assert bench.fail(1) is not None
    assert bench.later(0.1) == 2


def test_a_host_that_is_alone_never_takes_itself_out() -> None:
    assert Bench(streak=0).fail(100) is None


def test_words_that_nobody_listens_to_are_dropped_and_long_ones_cut() -> None:
    ends = CellEnds()
    for _ in range(500):
        ends.tell("é" * 10_000)
    heard = ends.streak()
    assert 100 < heard.length < 500
    assert heard.last.startswith("ééé")
    assert (ends.streak().length, ends.streak().ended_well) == (heard.length, 0)
