"""The drill for counts: each limit holds at its number, under two numbers, or it is told why not."""

import json
from dataclasses import dataclass

import pytest

from sandbox.backends.count_drill import counts
from sandbox.backends.verdicts import REPORT
from sandbox.errors import SandboxError
from sandbox.spec import Exit, ExitKind, Stream


@dataclass
class Counting:
    """A backend whose guest gets what the limits say, this host's own bounds permitting."""

    limits: str = "cgroup v2"
    most_processes: int = 1000
    most_files: int = 1000
    holds: bool = True
    names: bool = True
    code: int = 0

    def facts(self):
        return {"limits": self.limits}

    def run(self, spec, sink, _stop):
        processes = min(spec.limits.processes if self.holds else 257, self.most_processes)
        files = min(spec.limits.open_files if self.holds else 259, self.most_files)
        sink(Stream.STDOUT, json.dumps({"children": processes - 1, "files": files - 3}).encode())
        return Exit(ExitKind.EXITED, 0.1, code=self.code, limits_touched=("processes",) if self.names else ())


def failed(backend):
    return {probe.name: probe.fix for probe in counts(backend) if not probe.ok}


@pytest.mark.parametrize("backend", [Counting(), Counting(limits="rlimits only", names=False)])
def test_limits_that_hold_at_both_numbers_pass(backend):
    assert [(probe.name, probe.ok) for probe in counts(backend)] == [
        ("number of processes", True),
        ("open files", True),
    ]


def test_limits_that_are_not_held_are_broken_containment():
    assert failed(Counting(holds=False)) == {"number of processes": REPORT, "open files": REPORT}


def test_a_kernel_that_does_not_count_by_user_namespace_is_named():
    fixes = failed(Counting(limits="rlimits only", names=False, holds=False))
    assert fixes["number of processes"] == "limits by user namespace need Linux 5.14 or newer"


def test_a_group_that_only_its_stand_in_holds_fails():
    assert failed(Counting(names=False)) == {"number of processes": REPORT}


@pytest.mark.parametrize("most", [5, 16, 40])
def test_a_host_that_allows_less_than_the_control_proves_nothing_and_is_told_what_to_raise(most):
    fixes = failed(Counting(most_processes=most, most_files=most))
    assert {fix.split()[0] for fix in fixes.values()} == {"raise"}
    assert list(fixes) == ["number of processes", "open files"]


def test_a_witness_that_does_not_finish_is_an_error():
    with pytest.raises(SandboxError, match="did not finish, exited 1"):
        list(counts(Counting(code=1)))
