"""Each number of the protocol decides: runs just on either side of it are ruled apart."""

from collections.abc import Sequence

import pytest

from farm.gates.protocol import Judgement
from farm.gates.reliability import ReliabilityGate
from tests.builders.live_histories import REGISTERED
from tests.builders.reliability_rows import a_lettered_table

GATE = ReliabilityGate()
SOLVABLE, TASKS, TRIALS = 16, 20, 5
Runs = Sequence[str]


def runs(special: str = "", trials: int = TRIALS, unsolved: str = "u") -> Runs:
    """Solve what can be solved, but for the first runs of all, which do as the letters say."""
    letters = special.ljust(SOLVABLE * trials, "s").ljust(TASKS * trials, unsolved)
    return [letters[first : first + trials] for first in range(0, TASKS * trials, trials)]


def one_in_ten(letter: str, tasks: int) -> Runs:
    """Solve ten times what can be solved, but for one run of so many tasks."""
    return [letter + "s" * 9] * tasks + ["s" * 10] * (SOLVABLE - tasks) + ["u" * 10] * (TASKS - SOLVABLE)


def judged(baseline: Runs, model: Runs, reference: Runs) -> Judgement:
    table = a_lettered_table({"baseline": baseline, "model": model, "reference": reference}, REGISTERED)
    return GATE.judge(table, GATE.policy({}, ()))


def holds(found: Judgement, name: str) -> bool | None:
    return next(check.holds for check in found.checks if check.name == name)


@pytest.mark.parametrize(("trials", "enough"), [(4, False), (5, True)])
def test_trials(trials: int, enough: bool) -> None:
    same = runs(trials=trials)
    assert holds(judged(same, same, same), "trials") is enough


@pytest.mark.parametrize(("without", "enough"), [(12, True), (13, False)])
@pytest.mark.parametrize("check", ["adoption", "fidelity"])
def test_contracts(check: str, without: int, enough: bool) -> None:
    opened = runs("n" * without, unsolved="a")
    assert holds(judged(runs(), opened, opened), check) is enough


@pytest.mark.parametrize(("rejected", "of", "bearable"), [(2, 70, True), (3, 80, False)])
@pytest.mark.parametrize(("check", "letter"), [("false-exhaustion", "X"), ("false-abstention", "A")])
def test_false_rejections(check: str, letter: str, rejected: int, of: int, bearable: bool) -> None:
    model = runs((letter * rejected).ljust(of, "s").ljust(SOLVABLE * TRIALS, "u"))
    assert holds(judged(runs(), model, runs()), check) is bearable


@pytest.mark.parametrize(("exhausted", "harmless"), [(8, True), (9, False)])
def test_exhaustions_that_show_harm(exhausted: int, harmless: bool) -> None:
    assert holds(judged(runs(), runs("X" * exhausted), runs()), "no-exhausts-falsely") is harmless


@pytest.mark.parametrize(("tasks", "bearable"), [(5, True), (7, False)])
def test_lost_answers(tasks: int, bearable: bool) -> None:
    clean = one_in_ten("s", 0)
    assert holds(judged(clean, one_in_ten("u", tasks), clean), "success") is bearable


@pytest.mark.parametrize(("tasks", "harmless"), [(13, True), (15, False)])
def test_lost_answers_that_show_harm(tasks: int, harmless: bool) -> None:
    clean = one_in_ten("s", 0)
    assert holds(judged(clean, one_in_ten("u", tasks), clean), "no-less-success") is harmless


@pytest.mark.parametrize(("before", "after", "enough"), [(23, 16, True), (17, 12, False)])
def test_reduction(before: int, after: int, enough: bool) -> None:
    assert holds(judged(runs("f" * before), runs("f" * after), runs()), "reduction") is enough


@pytest.mark.parametrize(("gains", "enough"), [([1, 3, 0, -1, 2, 3, 2, 2], True), ([3, 2, 2, 3, -1, -1, 2, 3], False)])
def test_alpha(gains: Sequence[int], enough: bool) -> None:
    baseline = ["f" * max(gain, 0) + "s" * (TRIALS - max(gain, 0)) for gain in gains]
    model = ["f" * max(-gain, 0) + "s" * (TRIALS - max(-gain, 0)) for gain in gains]
    rest = runs()[len(gains) :]
    assert holds(judged([*baseline, *rest], [*model, *rest], runs()), "sign-flip") is enough


@pytest.mark.parametrize(
    ("letter", "tasks", "finding"),
    [
        ("X", 5, "NO_MATERIAL_SELF_AUTHORSHIP_PENALTY"),
        ("X", 7, "INCONCLUSIVE"),
        ("X", 13, "INCONCLUSIVE"),
        ("X", 15, "MODEL_CONTRACT_AUTHORSHIP_RISK"),
        ("r", 5, "NO_MATERIAL_SELF_AUTHORSHIP_PENALTY"),
        ("r", 7, "INCONCLUSIVE"),
        ("r", 13, "INCONCLUSIVE"),
        ("r", 15, "ADOPTION_OR_REPORTING_RISK"),
    ],
)
def test_what_a_contract_of_ones_own_costs(letter: str, tasks: int, finding: str) -> None:
    clean = one_in_ten("s", 0)
    assert judged(clean, one_in_ten(letter, tasks), clean).findings["authorship"] == finding


@pytest.mark.parametrize(
    ("rejected", "of", "finding"),
    [(12, 80, "NO_MATERIAL_SELF_AUTHORSHIP_PENALTY"), (11, 70, "CHECK_OR_REPAIR_GATE_RISK")],
)
def test_what_checks_cost_where_both_arms_are_alike(rejected: int, of: int, finding: str) -> None:
    governed = runs(("X" * rejected).ljust(of, "s").ljust(SOLVABLE * TRIALS, "u"))
    assert judged(runs(), governed, governed).findings["authorship"] == finding
