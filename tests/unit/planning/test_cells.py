from farm.model import CellOrder
from farm.planning.cells import order_cells


def ids(order: CellOrder) -> list[str]:
    return [cell.id for cell in order_cells(["t", "u"], ["a", "b"], 2, order)]


def test_task_major_runs_task_then_trial_then_arm_as_written() -> None:
    assert ids(CellOrder.TASK_MAJOR) == ["t.a.1", "t.b.1", "t.a.2", "t.b.2", "u.a.1", "u.b.1", "u.a.2", "u.b.2"]


def test_rotated_starts_each_block_with_the_next_arm() -> None:
    assert ids(CellOrder.ROTATED) == ["t.a.1", "t.b.1", "t.b.2", "t.a.2", "u.a.1", "u.b.1", "u.b.2", "u.a.2"]
