"""The gate: scripted runs of two arms, what must come of each, and the fault matrix's five gates over them."""

from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from farm.gates.mechanism.policy import MatrixPolicy, read_policy
from farm.gates.mechanism.runs import Runs, ScriptedRun, read_runs
from farm.gates.mechanism.told import FaultTold, MatrixTold, Told, tell
from farm.gates.protocol import Judgement
from farm.gates.reliability.mechanism import Mechanism, MechanismPart, rule_on_mechanism
from farm.gates.reliability.part_summary import Rate
from farm.gates.table import Table
from farm.model import Check, Decision

_MOST_NAMED = 100
_MOST_TOLD = 5


class MechanismGate:
    """Passes when every scripted run ends as its script must make it end, and the governor lets no false claim by.

    A run is as expected when the oracle, the claim and the governor's end are the fault's, its script is used up to its
    last reply and no further, and it went the way that most of the fault's runs in its arm went. A planned run that was
    not measured leaves the gate inconclusive. What it says is of the mechanism alone: no model had a part in it.
    """

    name = "mechanism"
    version = "1"

    def policy(self, options: dict[str, JsonValue], tasks: tuple[str, ...]) -> dict[str, JsonValue]:
        """Check options and fill in the defaults; raise SpecError naming what is wrong."""
        return read_policy(options, tasks).model_dump(mode="json")

    def needed_number(self, policy: dict[str, JsonValue]) -> str:  # noqa: ARG002 (the protocol's)
        """Name what is read besides answers: without claims it would find nothing to rule on."""
        return "governed"

    def judge(self, table: Table, policy: dict[str, JsonValue]) -> Judgement:
        """Rule."""
        rules = MatrixPolicy.model_validate(policy)
        arms = (rules.baseline, rules.governed)
        absent = [arm for arm in arms if arm not in table.plan.arm_by_name]
        if absent:
            summary = f"Nothing to judge: the plan holds no arm {', '.join(absent)}."
            return Judgement(decision=Decision.INCONCLUSIVE, summary=summary, checks=())
        runs = read_runs(table, rules)
        tasks = [task.id for task in table.plan.tasks]
        odd = _unexpected(runs, rules, tasks)
        baseline, governed = (_part([run for run in runs.measured if run.arm == arm], odd) for arm in arms)
        least = min(len(runs.of(task, arm)) for task in tasks for arm in arms)
        found = rule_on_mechanism(baseline, governed, least, rules.limits)
        told = MatrixTold(
            faults={task: _told(task, runs, rules, odd) for task in tasks},
            reduction=found.reduction,
            unexpected=dict(list(odd.items())[:_MOST_NAMED]),
        )
        return Judgement(
            decision=_decision(found, runs),
            summary=_summary(found, runs, baseline, governed),
            checks=(_measured(runs), *found.checks),
            findings=told.model_dump(mode="json"),
        )


def _unexpected(runs: Runs, rules: MatrixPolicy, tasks: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    odd: dict[str, tuple[str, ...]] = {}
    for task in tasks:
        for arm in (rules.baseline, rules.governed):
            mine = runs.of(task, arm)
            most = Counter(run.trajectory for run in mine).most_common(1)
            for run in mine:
                said = [*run.differences(rules.of(task, arm))]
                if run.trajectory != most[0][0]:
                    said.append("it went another way than most")
                if said:
                    odd[run.cell] = tuple(said)
    return odd


def _part(runs: Sequence[ScriptedRun], odd: Mapping[str, tuple[str, ...]]) -> MechanismPart:
    return MechanismPart(
        false_completions=Rate(sum(run.completes_falsely for run in runs), len(runs)),
        as_expected=Rate(sum(run.cell not in odd for run in runs), len(runs)),
        false_certifications=Rate(sum(run.certifies_falsely for run in runs), len(runs)),
    )


def _told(task: str, runs: Runs, rules: MatrixPolicy, odd: Mapping[str, tuple[str, ...]]) -> FaultTold:
    def one(arm: str) -> Told:
        mine = runs.of(task, arm)
        return tell(mine, rules.of(task, arm), sum(run.cell not in odd for run in mine))

    return FaultTold(baseline=one(rules.baseline), governed=one(rules.governed))


def _measured(runs: Runs) -> Check:
    named = ", ".join(runs.missing[:_MOST_TOLD])
    more = f" and {len(runs.missing) - _MOST_TOLD} more" if len(runs.missing) > _MOST_TOLD else ""
    return Check(
        name="runs-measured",
        subject="matrix",
        operator="==",
        threshold=len(runs.measured) + len(runs.missing),
        observed=len(runs.measured),
        holds=None if runs.missing else True,
        note=f"not measured: {named}{more}" if runs.missing else "",
    )


def _decision(found: Mechanism, runs: Runs) -> Decision:
    if runs.missing:
        return Decision.INCONCLUSIVE
    return Decision.PASS if found.holds else Decision.FAIL


def _summary(found: Mechanism, runs: Runs, baseline: MechanismPart, governed: MechanismPart) -> str:
    before, after = (f"{one.false_completions.count} of {one.false_completions.of}" for one in (baseline, governed))
    told = f"False completions: {before} without a governor, {after} with one."
    if runs.missing:
        return f"{len(runs.missing)} runs were not measured. {told}"
    broken = ", ".join(check.name for check in found.checks if not check.holds)
    return f"Not so: {broken}. {told}" if broken else f"The mechanism holds. {told}"
