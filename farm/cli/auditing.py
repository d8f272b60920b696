"""Walking a sealed sweep's chain, with the installed gates and the report as it is rendered here."""

from farm.audit import Audit, verify
from farm.cli.finishing import load_gate
from farm.finalizer.finalize import read_finalized
from farm.model import SweepId
from farm.ports import Store
from farm.reporting.render import render


def audited(place: Store, sweep: SweepId) -> Audit:
    """Verify the sweep; raise SpecError when it is not sealed."""
    return verify(place, sweep, load_gate, lambda: render(read_finalized(sweep, place.records).report))
