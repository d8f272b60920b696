import pytest

from farm.errors import SpecError
from farm.gates.completeness import CompletenessGate
from farm.gates.overlay import OverlayGate
from farm.gates.paired import PairedGate
from farm.gates.promotion import PromotionGate
from farm.gates.protocol import Gate, Judgement
from farm.gates.reliability import ReliabilityGate
from farm.gates.table import Table
from farm.model import ArmRole, Decision, Pin
from farm.planning.earlier import Numbers
from farm.planning.operating import Chances, Play, characteristics
from farm.stats.power import Difficulty
from farm.stats.truth import Spread
from tests.builders.gates import BASH_CALLS, a_plan

TASKS = tuple(f"task-{number}" for number in range(12))
PLAN = a_plan(TASKS, trials=3)
EVEN = Difficulty(2, 2)


class CountsRights:
    """A gate that passes when the candidate has more right answers than the incumbent."""

    name, version = "rights", "1"

    def policy(self, options, tasks):  # noqa: ARG002 (the protocol's)
        return options

    def judge(self, table: Table, policy) -> Judgement:  # noqa: ARG002 (the protocol's)
        rights = {role: sum(row.oracle.correct for row in table.rows if row.role is role) for role in ArmRole}
        is_more = rights[ArmRole.CANDIDATE] > rights[ArmRole.INCUMBENT]
        return Judgement(decision=Decision.PASS if is_more else Decision.FAIL, summary="", checks=())


def chances(gate: Gate, effect: float, played: int = 200, seed: int = 0) -> Chances:
    pin = Pin(name=gate.name, version=gate.version, options=gate.policy({}, TASKS))
    return characteristics(PLAN, pin, gate, Play(EVEN, effect, played, seed))


def test_an_effect_is_the_candidates_alone_and_of_the_size_that_is_asked() -> None:
    assert chances(CountsRights(), 0.5).shares[Decision.PASS] == 1.0
    assert chances(CountsRights(), -0.5).shares[Decision.FAIL] == 1.0
    assert chances(CountsRights(), 0.0).shares[Decision.PASS] == pytest.approx(0.45, abs=0.12)


def test_false_alarms_stay_below_alpha_and_power_grows_with_the_effect() -> None:
    none, some, much = (chances(PairedGate(), effect) for effect in (0.0, 0.2, 0.4))

    assert none.shares[Decision.PASS] < 0.05
    assert none.shares[Decision.PASS] < some.shares[Decision.PASS] < much.shares[Decision.PASS]
    assert much.shares[Decision.PASS] > 0.8


def test_the_shares_are_of_all_that_was_played_and_carry_their_error() -> None:
    found = chances(PairedGate(), 0.2, played=50)

    assert sum(found.shares.values()) == pytest.approx(1)
    share = found.shares[Decision.PASS]
    assert found.standard_errors[Decision.PASS] == pytest.approx((share * (1 - share) / 50) ** 0.5)


def test_one_seed_gives_the_same_sweeps_again() -> None:
    assert chances(PairedGate(), 0.1, 30, seed=4) == chances(PairedGate(), 0.1, 30, seed=4)


def test_an_effect_that_no_arm_can_have_is_refused() -> None:
    with pytest.raises(SpecError, match=r"an effect of 0\.7 on a mean of 0\.5 leaves 0 to 1"):
        chances(CountsRights(), 0.7)


def test_a_gate_that_reads_other_numbers_is_refused_by_its_metric() -> None:
    gate = OverlayGate()
    pin = Pin(name="overlay", version="4", options=gate.policy({"metric": "bash_tool_calls"}, TASKS))

    with pytest.raises(SpecError, match="reads the metric 'bash_tool_calls'"):
        characteristics(PLAN, pin, gate, Play(EVEN, 0.1))


@pytest.mark.parametrize(("work", "metric"), [("implementation", "cost_usd"), ("review", "review_weighted_f1")])
def test_a_promotion_cannot_be_played_by_answers_alone(work: str, metric: str) -> None:
    """Without costs it would find its evidence insufficient each time, which says nothing of the gate."""
    gate = PromotionGate()
    pin = Pin(name=gate.name, version=gate.version, options=gate.policy({"work": work}, TASKS))

    with pytest.raises(SpecError, match=f"reads the metric '{metric}'"):
        characteristics(PLAN, pin, gate, Play(EVEN, 0.0, 1))


CALLS = Numbers(BASH_CALLS, (20.0,) * len(TASKS), Spread(((-3.0, -1.0, 0.0, 1.0, 3.0),) * len(TASKS)))


def of_calls(gate: Gate, effect: float, **options: object) -> Chances:
    pin = Pin(name=gate.name, version=gate.version, options=gate.policy({"metric": BASH_CALLS.name} | options, TASKS))
    return characteristics(PLAN, pin, gate, Play(CALLS, effect, 60))


def test_a_metric_is_played_in_its_own_unit_and_direction() -> None:
    none, better, worse = (of_calls(PairedGate(), effect) for effect in (0.0, 3.0, -3.0))

    assert none.shares[Decision.PASS] < 0.1
    assert better.shares[Decision.PASS] == 1.0
    assert worse.shares[Decision.FAIL] == 1.0


def test_an_overlay_is_played_by_its_own_ratio_all_answers_being_right() -> None:
    blocking = {"cases": {task: {"gate": "reduction"} for task in TASKS}}

    assert of_calls(OverlayGate(), 1.0, **blocking).shares[Decision.PASS] == 0.0
    assert of_calls(OverlayGate(), 9.0, **blocking).shares[Decision.PASS] == 1.0


def test_a_ruling_on_reliability_is_not_played_since_it_reads_claims() -> None:
    gate = ReliabilityGate()

    with pytest.raises(SpecError, match="reads the metric 'governed' beside others"):
        characteristics(PLAN, Pin(name=gate.name, version=gate.version), gate, Play(EVEN, 0.0, 1))


def test_a_gate_that_reads_more_metrics_than_one_is_refused() -> None:
    gate = CompletenessGate()
    pin = Pin(name=gate.name, version=gate.version, options={"metrics": ["bash_tool_calls", "seconds"]})

    with pytest.raises(SpecError, match="reads several metrics, 'seconds' among them"):
        characteristics(PLAN, pin, gate, Play(CALLS, 0.0, 1))
