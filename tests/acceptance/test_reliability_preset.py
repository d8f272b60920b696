"""The preset `reliability`, as a person plans it and proves its tasks."""

import json

from tests.builders.farm_command import Desk

SWEEP = """\
name: live
preset: {kind: reliability, agent: {kind: stand-in, model: m}, provider: scripted}
prices: prices.yaml
"""


def test_a_plan_of_three_hundred_cells_spends_nothing(desk: Desk) -> None:
    (desk.here / "sweep.yaml").write_text(SWEEP)
    (desk.here / "prices.yaml").write_text("models:\n  m: {input: 4, output: 20, cache_read: 0.4, cache_write: 5}\n")
    planned = desk.farm("plan", "sweep.yaml", "--json")
    assert planned.code == 0, planned
    told = json.loads(planned.out)
    assert (told["cell_count"], told["cost"]["runs"], told["cost"]["of_unknown_cost"]) == (300, 300, 300)
    assert list(desk.here.glob(".farm/store/**/*.json")) == []


def test_its_tasks_are_proven_the_four_that_nothing_solves_among_them(desk: Desk) -> None:
    (desk.here / "sweep.yaml").write_text(SWEEP.replace("prices: prices.yaml\n", ""))
    names = ("nested-migration", "already-correct-no-regression", "future-event-proof")
    checked = desk.farm("task", "check", "sweep.yaml", *names, "--json")
    assert checked.code == 0, checked
    found = {task["task"]: (task["nothing"], task["reference"]) for task in json.loads(checked.out)["tasks"]}
    assert found == {
        "nested-migration": (["wrong"] * 2, ["right"] * 2),
        "already-correct-no-regression": (["right"] * 2, ["right"] * 2),
        "future-event-proof": (["wrong"] * 2, []),
    }
