"""The drill for processor time: the kernel's account decides, and a busy machine is no broken one."""

from dataclasses import dataclass, field

import pytest

from sandbox.backends.processor_drill import Burn, Ruling, processors, ruling
from sandbox.backends.verdicts import REPORT
from sandbox.errors import SandboxError
from sandbox.spec import Exit, ExitKind

HELD = Burn(used_s=0.03, wall_s=0.45, was_stopped=True)
FREE = Burn(used_s=0.07, wall_s=0.1, was_stopped=False)
WAITED = Burn(used_s=0.07, wall_s=4.0, was_stopped=False)
"""Nobody holds it back, but it waited as if."""


@pytest.mark.parametrize(
    ("held", "free", "expected"),
    [
        (HELD, FREE, Ruling.HELD),
        (Burn(0.03, 9.0, was_stopped=True), FREE, Ruling.HELD),
        (FREE, FREE, Ruling.LOOSE),
        (FREE, WAITED, Ruling.LOOSE),
        (WAITED, FREE, Ruling.UNSEEN),
        (WAITED, WAITED, Ruling.UNSEEN),
        (HELD, WAITED, Ruling.UNSEEN),
        (HELD, Burn(0.07, 0.1, was_stopped=True), Ruling.UNSEEN),
    ],
)
def test_a_cap_is_held_when_it_was_felt_and_the_control_went_beyond_it(held, free, expected):
    assert ruling(held, free) is expected


@dataclass
class Accounting:
    """A backend that answers one burn after the other as it was told; the last answer stays."""

    answers: list[Burn]
    limits: str = "cgroup v2"
    asked: list[float | None] = field(default_factory=list)

    def facts(self):
        return {"limits": self.limits, "no_cgroups": "none are here"}

    def run(self, spec, _sink, _stop):
        self.asked.append(spec.limits.cpus)
        burn = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        touched = ("processors",) if burn.was_stopped else ()
        return Exit(ExitKind.EXITED, burn.wall_s, code=0, cpu_s=burn.used_s, limits_touched=touched)


def test_what_a_busy_machine_hides_is_looked_for_again():
    backend = Accounting([WAITED, WAITED, HELD, WAITED, HELD, FREE])
    assert processors(backend, patience_s=60).ok
    assert backend.asked == [0.05, None] * 3


def test_what_stays_hidden_is_not_taken_for_held_nor_called_broken():
    probe = processors(Accounting([WAITED]), patience_s=0)
    assert (probe.ok, probe.detail[:37]) == (False, "can't be told on a machine this busy:")
    assert probe.fix == "look again when this machine has less to do"


def test_a_guest_that_used_more_than_its_share_needs_no_second_look():
    backend = Accounting([FREE])
    probe = processors(backend, patience_s=60)
    assert (probe.ok, probe.fix, len(backend.asked)) == (False, REPORT, 2)


def test_a_machine_without_groups_is_told_and_not_refused():
    backend = Accounting([FREE], limits="rlimits only")
    assert (processors(backend).ok, processors(backend).detail) == (True, "not held, rlimits only: none are here")


def test_a_burn_without_an_account_is_our_failure():
    class Silent(Accounting):
        def run(self, _spec, _sink, _stop):
            return Exit(ExitKind.EXITED, 0.1, code=0)

    with pytest.raises(SandboxError, match="nothing was accounted"):
        processors(Silent([FREE]))
