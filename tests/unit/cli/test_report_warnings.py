from farm.adapters.memory import MemoryStore
from farm.cli.report_warnings import report_warnings
from farm.model import SweepId
from tests.builders.sealed import a_sealed_sweep


def test_a_sealed_sweeps_contamination_alarm_is_read_from_its_report() -> None:
    store = MemoryStore()
    found = report_warnings(store.records, a_sealed_sweep(store))
    assert [warning.split(" left ")[0] for warning in found if "Contamination" in warning] == [
        "Contamination? answer.overlay-off.1, answer.overlay-on.1"
    ]


def test_a_sweep_without_a_report_warns_of_nothing() -> None:
    assert report_warnings(MemoryStore().records, SweepId("demo-000000000000.1")) == ()
