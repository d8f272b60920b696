from farm.gates.paired import PairedGate
from farm.gates.paired.noise import Noise, noises
from farm.gates.pairs import ArmPair, same_arms
from farm.gates.table import Row, Table
from farm.model import Arm, ArmRole, Cell, Decision, OracleFinding, Pin, Plan
from tests.builders.gates import OFF, ON, TWO_ARMS, At, a_plan, a_row, a_table, an_arm

TASKS = ("one", "two")
AGAIN = "off-again"
TWICE = ArmPair(candidate=AGAIN, incumbent=OFF)
CONTROL = an_arm(AGAIN, ArmRole.CONTROL)


def with_control(control: Arm = CONTROL) -> Plan:
    plan = a_plan(TASKS, trials=2)
    cells = tuple(Cell(task=task, arm=AGAIN, trial=trial) for task in TASKS for trial in (1, 2))
    return Plan.model_validate(plan.model_dump() | {"arms": (*TWO_ARMS, control), "cells": (*plan.cells, *cells)})


def a_run(at: At) -> Row:
    """Run every arm alike, but for two wrong answers of the control and four calls more of it in the first task."""
    is_other = at.arm == AGAIN and at.task == "one"
    role = {ON: ArmRole.CANDIDATE, OFF: ArmRole.INCUMBENT, AGAIN: ArmRole.CONTROL}[at.arm]
    return a_row(at, 7 if is_other else 3, oracle=OracleFinding(correct=not is_other), role=role)


def the_table() -> Table:
    plan = with_control()
    return a_table(tuple(a_run(At(cell.arm, cell.trial, cell.task)) for cell in plan.cells), plan)


def test_a_control_that_is_its_incumbent_once_more_shows_the_noise_of_answers_and_of_every_metric() -> None:
    common = {"pair": TWICE, "p_value": 1.0, "tasks": 2, "measured": 4, "planned": 4}

    assert tuple(noises(the_table())) == (
        Noise(metric="correct", difference=-0.5, largest=1, **common),
        Noise(metric="bash_tool_calls", difference=-2, largest=4, **common),
    )


def test_a_control_that_is_another_arm_shows_no_noise() -> None:
    other = CONTROL.model_copy(update={"agent": Pin(name="scripted", version="2")})

    assert same_arms(with_control()) == (TWICE,)
    assert same_arms(with_control(other)) == ()


def test_a_control_repeats_the_incumbent_that_it_names() -> None:
    named = with_control(CONTROL.model_copy(update={"incumbent": OFF}))
    two = named.model_copy(update={"arms": (*named.arms, an_arm("other", ArmRole.INCUMBENT))})
    nobody = two.model_copy(update={"arms": (*TWO_ARMS, CONTROL, an_arm("other", ArmRole.INCUMBENT))})

    assert same_arms(Plan.model_validate(two.model_dump())) == (TWICE,)
    assert same_arms(Plan.model_validate(nobody.model_dump())) == ()


def test_the_gate_tells_the_noise_of_its_metric_and_decides_nothing_by_it() -> None:
    gate, table = PairedGate(), the_table()

    found = gate.judge(table, gate.policy({"metric": "bash_tool_calls"}, TASKS))

    assert found.decision is Decision.INCONCLUSIVE
    assert found.findings["noise"] == [
        next(one for one in noises(table) if one.metric == "bash_tool_calls").model_dump(mode="json")
    ]
    assert not any(AGAIN in check.subject for check in found.checks)


def test_a_sweep_without_a_control_has_no_noise_in_its_verdict() -> None:
    gate, plan = PairedGate(), a_plan(TASKS, trials=1)
    rows = tuple(a_row(At(arm, 1, task)) for task in TASKS for arm in (OFF, ON))

    assert "noise" not in gate.judge(a_table(rows, plan), gate.policy({}, TASKS)).findings
