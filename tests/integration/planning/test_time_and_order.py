"""What a sweep file says of time and order, in its plan."""

from decimal import Decimal
from pathlib import Path

import pytest

from farm.adapters.memory.store import MemoryBlobs
from farm.errors import SpecError
from farm.model import CellOrder, Expected, SweepBudget
from tests.builders.planning import SWEEP, a_sweep, planned

DURATIONS = "tasks:\n  bug: {baseline: 10, fresh: 400, old: 1}\n  gone: {fresh: 3}\n"


def test_windows_and_durations_are_pinned_as_far_as_they_speak_of_the_sweep(tmp_path: Path) -> None:
    file = a_sweep(tmp_path, SWEEP + "windows: [22:00-06:00 Europe/Berlin]\nupload_s: 60\ndurations: durations.yaml\n")
    (tmp_path / "durations.yaml").write_text(DURATIONS)
    plan = planned(file)
    assert plan.windows == ("22:00-06:00 Europe/Berlin",)
    assert plan.durations == {"bug": {"baseline": 10, "fresh": 400}}
    cells = {cell.arm: cell for cell in plan.cells}
    assert [plan.sessions_s(cells[arm]) for arm in ("baseline", "fresh")] == [10, 400]
    assert plan.afterwards_s(cells["fresh"]) == 120 + 60


def test_what_was_measured_of_another_agent_or_model_says_nothing_of_an_arm(tmp_path: Path) -> None:
    file = a_sweep(tmp_path, SWEEP + "durations: durations.yaml\n")
    (tmp_path / "durations.yaml").write_text(
        "tasks:\n  bug:\n"
        "    baseline:\n"
        "      - {p50_s: 5, p90_s: 9, n: 3, agent: robot}\n"
        "      - {p50_s: 50, p90_s: 90, n: 3, agent: robot, model: big}\n"
        "    fresh: {p50_s: 6, p90_s: 7, n: 3, agent: other}\n"
    )
    assert planned(file).durations == {"bug": {"baseline": Expected(p50_s=5, p90_s=9, n=3, agent="robot")}}


def test_an_arm_that_was_never_run_is_expected_to_last_as_its_agent_and_model_did_elsewhere(tmp_path: Path) -> None:
    file = a_sweep(tmp_path, SWEEP + "durations: durations.yaml\n")
    (tmp_path / "durations.yaml").write_text(
        "tasks: {bug: {old: {p50_s: 5, p90_s: 9, n: 3, agent: robot}, odd: {p50_s: 6, p90_s: 60, n: 1}, plain: 70}}\n"
    )
    plan = planned(file)
    assert [plan.sessions_s(cell) for cell in plan.cells] == [9.0] * 4
    assert [plan.typical_s(cell) for cell in plan.cells] == [5.0] * 4


def test_a_cell_of_unknown_duration_is_expected_to_last_as_long_as_it_may(tmp_path: Path) -> None:
    plan = planned(a_sweep(tmp_path))
    assert [plan.sessions_s(cell) for cell in plan.cells] == [2400.0] * 4


def test_the_order_and_its_seed_are_recorded(tmp_path: Path) -> None:
    seeded = planned(a_sweep(tmp_path, SWEEP + "order: seeded\nseed: 7\n"))
    assert (seeded.order, seeded.seed) == (CellOrder.SEEDED, 7)
    (tmp_path / "durations.yaml").write_text(DURATIONS)
    (tmp_path / "sweep.yaml").write_text(SWEEP + "order: packed\ndurations: durations.yaml\n")
    packed = planned(tmp_path / "sweep.yaml")
    assert (packed.order, packed.seed) == (CellOrder.PACKED, None)
    assert [cell.arm for cell in packed.cells] == ["fresh", "fresh", "baseline", "baseline"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("windows: [nightly]\n", r"windows\[0\]: 'nightly' is no time window"),
        ("windows: [instance]\n", r"windows\[0\]: .*FARM_WINDOW"),
        ("windows: ['22:00-22:30']\n", r"windows: a cell of task 'bug' may need 2550 s .* more than 1800 s"),
        ("durations: durations.yaml\n", r"durations\.yaml:1: tasks"),
        ("durations: endless.yaml\n", r"endless\.yaml:1: tasks\.bug\.fresh"),
        ("durations: crossed.yaml\n", r"crossed\.yaml:1: tasks\.bug\.fresh"),
        ("order: packed\n", "order: a packed order needs `durations:`"),
        ("seed: 3\n", "seed: the order is rotated, which takes no seed"),
    ],
)
def test_what_cannot_be_kept_is_refused_before_anything_is_stored(tmp_path: Path, more: str, said: str) -> None:
    file = a_sweep(tmp_path, SWEEP + more)
    (tmp_path / "durations.yaml").write_text("tasks: {}\n")
    (tmp_path / "endless.yaml").write_text("tasks: {bug: {fresh: .inf}}\n")
    (tmp_path / "crossed.yaml").write_text("tasks: {bug: {fresh: {p50_s: 3, p90_s: 2, n: 1}}}\n")
    blobs = MemoryBlobs()
    with pytest.raises(SpecError, match=said):
        planned(file, blobs)
    assert blobs.bodies == {}


PAID = SWEEP.replace("agent: {kind: robot}", "agent: {kind: asking}\n    provider: acme") + "prices: prices.yaml\n"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("budget: {cost_usd: 5}\n", r"budget\.cost_usd: an attempt reserves .* `cell_budget: \{cost_usd: …\}`"),
        ("budget: {tokens: 5}\ncell_budget: {cost_usd: 1}\n", r"budget\.tokens: an attempt reserves"),
        ("budget: {cost_usd: 5}\ncell_budget: {cost_usd: 6}\n", r"budget\.cost_usd: no attempt fits into 5"),
        ("budget: {}\n", "budget: a budget needs cost_usd or tokens"),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused(tmp_path: Path, more: str, said: str) -> None:
    file = a_sweep(tmp_path, PAID + more)
    (tmp_path / "prices.yaml").write_text("models: {m: {input: 1, output: 2, cache_read: 0, cache_write: 1}}\n")
    with pytest.raises(SpecError, match=said):
        planned(file)


def test_a_budget_is_pinned_and_is_in_no_cell_s_lock(tmp_path: Path) -> None:
    file = a_sweep(tmp_path, PAID + "cell_budget: {cost_usd: 1}\n")
    (tmp_path / "prices.yaml").write_text("models: {m: {input: 1, output: 2, cache_read: 0, cache_write: 1}}\n")
    plain = planned(file)
    file.write_text(file.read_text() + "budget: {cost_usd: 5}\n")
    bounded = planned(file)
    assert bounded.budget == SweepBudget(cost_usd=Decimal(5))
    assert bounded.digest != plain.digest
    assert bounded.lock(bounded.cells[0]) == plain.lock(plain.cells[0])
