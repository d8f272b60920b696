from typing import Any

import pytest

from farm.model import SweepSpec
from farm.planning.admit import cross_checks

TASK = {"id": "t", "repository": {"path": "r"}, "prompt": "p", "oracle": {"kind": "command"}}
IMAGE = f"debian@sha256:{'a' * 64}"
OFF = {"name": "off", "role": "incumbent", "agent": {"kind": "robot"}}
ON = {"name": "on", "role": "candidate", "agent": {"kind": "robot"}}


def found(**fields: Any) -> list[tuple[object, str]]:
    spec = SweepSpec.model_validate({"name": "s", "tasks": [TASK], "arms": [OFF, ON]} | fields)
    return [(problem.loc, problem.text) for problem in cross_checks(spec)]


def test_a_fitting_sweep_has_no_problem() -> None:
    assert found() == []


def test_a_task_may_bring_an_image_to_the_docker_sandbox() -> None:
    assert found(tasks=[TASK | {"image": IMAGE}], sandbox="docker") == []


def test_several_incumbents_are_fine_when_each_candidate_names_its_own() -> None:
    other = OFF | {"name": "other"}
    assert found(arms=[OFF, other]) == []
    assert found(arms=[OFF, ON | {"incumbent": "off"}, other, ON | {"name": "new", "incumbent": "other"}]) == []


def test_one_arm_alone_may_be_an_incumbent_or_a_control() -> None:
    assert found(arms=[OFF]) == []
    assert found(arms=[OFF | {"role": "control"}]) == []


@pytest.mark.parametrize(
    ("fields", "loc", "text"),
    [
        ({"tasks": []}, ("tasks",), "there is no task"),
        ({"arms": []}, ("arms",), "there is no arm"),
        ({"tasks": [TASK, TASK]}, ("tasks", 1, "id"), "'t' is already the id of tasks[0]"),
        (
            {"tasks": [TASK | {"solvable": False, "reference": "solution"}]},
            ("tasks", 0, "reference"),
            "task 't' is not solvable",
        ),
        ({"arms": [OFF, ON, ON]}, ("arms", 2, "name"), "'on' is already the name of arms[1]"),
        ({"arms": [ON]}, ("arms", 0, "role"), "arm 'on' is a candidate without an incumbent"),
        ({"arms": [OFF, OFF | {"name": "b"}, ON]}, ("arms", 2), "say which of them arm 'on' is set against"),
        ({"arms": [OFF, ON | {"incumbent": "b"}]}, ("arms", 1, "incumbent"), "no incumbent 'b'"),
        ({"arms": [OFF, ON | {"control": True}]}, ("arms", 1, "role"), "has the role control, not candidate"),
        (
            {"arms": [OFF, OFF | {"name": "b"}, OFF | {"name": "c", "role": "control", "control": True}]},
            ("arms", 2, "control"),
            "say which incumbent arm 'c' repeats (`incumbent:`); the sweep's incumbents are: off, b",
        ),
        (
            {"arms": [OFF | {"assets": {"p": "p"}, "plugins": {"p": {"folder": "p", "version": "1.0.0"}}}]},
            ("arms", 0, "plugins", "p"),
            "an asset of that name",
        ),
        ({"arms": [OFF | {"incumbent": "off"}]}, ("arms", 0, "incumbent"), "set against nothing"),
        (
            {"arms": [OFF, ON | {"overlay": {"base": "b", "boundary": ["**"], "modify_only": True}}]},
            ("arms", 1, "overlay", "modify_only"),
            "no files that could modify",
        ),
        ({"gates": [{"kind": "g"}, {"kind": "g"}]}, ("gates", 1, "kind"), "'g' is already the kind of gates[0]"),
        (
            {"metrics": [{"name": "m", "source": "oracle", "key": "k"}] * 2},
            ("metrics", 1, "name"),
            "'m' is already the name of metrics[0]",
        ),
        ({"arms": [OFF, ON | {"overlay": {}}]}, ("arms", 1, "overlay"), "the overlay adds nothing"),
        ({"arms": [OFF, ON | {"overlay": {"files": "f"}}]}, ("arms", 1, "overlay"), "needs a boundary"),
        (
            {"arms": [OFF, ON | {"overlay": {"instructions": ["i"], "boundary": ["x"]}}]},
            ("arms", 1, "overlay", "boundary"),
            "bounds nothing",
        ),
        ({"cell_budget": {"tokens": 5}}, ("cell_budget",), "no arm names a provider"),
        (
            {"cell_budget": {"cost_usd": 5}, "arms": [OFF | {"provider": "p"}]},
            ("cell_budget", "cost_usd"),
            "needs `prices:`",
        ),
        ({"tasks": [TASK, TASK | {"id": "u", "image": IMAGE}]}, ("tasks", 1, "image"), "say `sandbox: docker`"),
        ({"trials": 10_000, "tasks": [TASK | {"id": f"t{n}"} for n in range(51)]}, ("trials",), "1020000 cells"),
    ],
)
def test_parts_that_do_not_fit_are_named(fields: dict[str, Any], loc: object, text: str) -> None:
    ((at, said),) = found(**fields)
    assert at == loc
    assert text in said


def test_nothing_is_decided_by_sessions_that_nothing_contained() -> None:
    uncontained = found(sandbox="unsafe-host", gates=[{"kind": "g"}])
    assert [loc for loc, _ in uncontained] == [("sandbox",)] * 2
    assert ["gate 'g'" in text for _, text in uncontained] == [True, False]
    assert ["candidate 'on'" in text for _, text in uncontained] == [False, True]
    assert found(sandbox="unsafe-host", arms=[OFF]) == []
