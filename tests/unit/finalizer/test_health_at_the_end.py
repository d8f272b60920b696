from farm.finalizer.finalize import Finalized, finalize
from farm.gates.health import HealthGate
from farm.gates.protocol import Gate
from farm.model import Decision, Evidence, Fault, FaultKind, Pin, Ticket
from farm.model.keys import report_key, verdict_key
from tests.builders.finalizing import PIN, CountingGate, render
from tests.builders.sweeps import Farm, a_plan, evidence, fault

GATES: dict[str, Gate] = {"counting": CountingGate(), "health": HealthGate()}


def finalized(farm: Farm) -> Finalized:
    return finalize(farm.sweep, farm.finalizer_ports, GATES.__getitem__, render)


def a_farm(broken_arm: str | None) -> Farm:
    pin = Pin(name="health", version="1", options=HealthGate().policy({}, ()))
    farm = Farm(a_plan(trials=2, gates=(PIN, pin)))

    def find(ticket: Ticket) -> Evidence | Fault:
        is_broken = broken_arm is not None and f".{broken_arm}." in ticket.cell
        return fault(FaultKind.TASK) if is_broken else evidence()

    farm.run(farm.works(find))
    return farm


def test_an_unusable_arm_fails_the_sweep_and_holds_back_neither_the_report_nor_another_verdict() -> None:
    farm = a_farm(a_plan().arms[1].name)
    done = finalized(farm)
    assert done.exit_code == 1
    assert [(one.gate.name, one.decision) for one in done.report.verdicts] == [
        ("counting", Decision.PASS),
        ("health", Decision.FAIL),
    ]
    written = [verdict_key(farm.sweep, "counting"), verdict_key(farm.sweep, "health")]
    assert all(farm.records.read(key) for key in (*written, report_key(farm.sweep, "report.md")))


def test_a_sweep_of_sound_arms_passes() -> None:
    assert finalized(a_farm(None)).exit_code == 0
