import json
from collections import Counter
from pathlib import Path

from farm.model import CellOrder
from farm.planning.cells import Ordering, order_cells

VECTOR = Path("tests/data/live-rotation-vector.json")


def ids(order: CellOrder) -> list[str]:
    return [cell.id for cell in order_cells(["t", "u"], ["a", "b"], 2, Ordering(order))]


def test_task_major_runs_task_then_trial_then_arm_as_written() -> None:
    assert ids(CellOrder.TASK_MAJOR) == ["t.a.1", "t.b.1", "t.a.2", "t.b.2", "u.a.1", "u.b.1", "u.a.2", "u.b.2"]


def test_rotated_starts_each_block_with_the_next_arm() -> None:
    assert ids(CellOrder.ROTATED) == ["t.a.1", "t.b.1", "t.b.2", "t.a.2", "u.a.1", "u.b.1", "u.b.2", "u.a.2"]


def test_diagonal_starts_each_task_with_the_next_arm_whatever_the_number_of_trials() -> None:
    assert ids(CellOrder.DIAGONAL) == ["t.a.1", "t.b.1", "t.b.2", "t.a.2", "u.b.1", "u.a.1", "u.a.2", "u.b.2"]


def test_a_diagonal_order_is_the_rotation_of_the_reliability_protocol() -> None:
    vector = json.loads(VECTOR.read_text())
    cases, trials, examples = vector["input"]["cases"], vector["input"]["trials"], vector["expected"]["examples"]
    arms = examples[0]["order"]
    tasks = [str(case) for case in range(cases)]
    cells = list(order_cells(tasks, arms, trials, Ordering(CellOrder.DIAGONAL)))
    blocks = [cells[first : first + len(arms)] for first in range(0, len(cells), len(arms))]
    found = {(block[0].task, block[0].trial): [cell.arm for cell in block] for block in blocks}

    assert len(cells) == vector["expected"]["runs"]
    for one in examples:
        assert found[str(one["caseIndex"]), one["trial"]] == one["order"]
    firsts = Counter(str(arms.index(order[0])) for order in found.values())
    assert dict(firsts) == vector["expected"]["blocksByOffset"]


def test_a_seeded_order_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    names = [[f"{letter}{number}" for number in range(4)] for letter in "ta"]

    def mixed(seed: int) -> list[str]:
        return [cell.id for cell in order_cells(names[0], names[1], 3, Ordering(CellOrder.SEEDED, seed))]

    assert mixed(1) == mixed(1)
    assert mixed(1) != mixed(2)
    assert mixed(1)[:3] == ["t1.a3.3", "t1.a2.3", "t1.a0.3"]


def test_packed_starts_the_longest_first_and_keeps_the_rotation_among_equals() -> None:
    lasts = {"a": 1.0, "b": 5.0}
    ordering = Ordering(CellOrder.PACKED, lasts_s=lambda cell: lasts[cell.arm])
    found = [cell.id for cell in order_cells(["t", "u"], ["a", "b"], 2, ordering)]
    assert found == ["t.b.1", "t.b.2", "u.b.1", "u.b.2", "t.a.1", "t.a.2", "u.a.1", "u.a.2"]
