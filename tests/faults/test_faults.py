"""Every fault of the table, injected into a running sweep of 24 cells; after each the same invariants hold."""

import pytest

from tests.faults.catalogue import FAULTS
from tests.faults.fault import Fault
from tests.faults.fleet import Fleet
from tests.faults.invariants import broken, left_running
from tests.faults.sweep import a_sweep
from tests.services.waiting import wait_until


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_nothing_is_lost_doubled_changed_or_left_running(fault: Fault, fleet: Fleet) -> None:
    fleet.heal()
    with a_sweep(fleet, fault.shape) as sweep:
        struck = fault.strike(sweep)
        last = sweep.end()
        assert (last.get("end"), last.get("close")) == ("closed", struck.close), sweep.words()
        assert sweep.finalize() == struck.code
        fleet.heal()
        wait_until(lambda: left_running(sweep) == [], 20)
        assert broken(sweep, struck.seen, struck.expected) == []
