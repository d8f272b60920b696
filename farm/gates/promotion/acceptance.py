"""Whether a promotion may be applied: what it names is what is there today, and its numbers give its decisions."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import JsonValue

from farm.gates.promotion import implementation, review
from farm.gates.promotion.aggregate import Aggregate
from farm.gates.promotion.decisions import ImplementationDecision, ReviewDecision
from farm.gates.promotion.policy import ImplementationPolicy, read_policy
from farm.gates.promotion.reading import Problem, Reason, read_promotion
from farm.gates.promotion.record import LIFE, Bindings, Promotion, RunStatus
from farm.gates.promotion.ruling import Choice, Contest, Sweep
from farm.model import CloseReason, Decision

AHEAD = timedelta(minutes=5)
"""How far another host's clock may be ahead."""
_MOST_DIFFERENCES = 10


@dataclass(frozen=True, slots=True)
class Today:
    """What a promotion is held against."""

    bindings: Bindings
    incumbents: Mapping[str, str]
    """By candidate."""
    now: datetime


def refusals(document: JsonValue, today: Today) -> tuple[Problem, ...]:
    """Say all that stands against applying a promotion; () when it may be."""
    record = read_promotion(document)
    if not isinstance(record, Promotion):
        return record
    return (
        *_of_record(record),
        *_against(record, today.bindings),
        *_of_times(record, today.now),
        *_of_list(record, today.bindings.required_candidate_arms),
        *(problem for one in record.decisions for problem in _of_decision(record, one, today.incumbents)),
    )


def _of_record(record: Promotion) -> Iterator[Problem]:
    if record.run_status is not RunStatus.COMPLETE:
        yield Problem(Reason.RUN_STATUS, f"the sweep is {record.run_status}, and must be complete")
    if record.farm is not None and record.farm.verdict is not Decision.PASS:
        yield Problem(Reason.VERDICT, f"the sweep's verdict is {record.farm.verdict}")
    arms = record.required_candidate_arms
    if not arms or len(set(arms)) < len(arms):
        yield Problem(Reason.ARMS_MALFORMED, f"its candidates are {', '.join(arms) or 'none'}; each must be named once")
    tasks = [task.id for task in record.selected_tasks]
    if not tasks or len(set(tasks)) < len(tasks):
        yield Problem(Reason.TASK_MALFORMED, f"its tasks are {', '.join(tasks) or 'none'}; each must be named once")


_BOUND: Mapping[str, Reason] = {
    "benchmark_model": Reason.MODEL,
    "proposer_model": Reason.PROPOSER,
    "effort": Reason.EFFORT,
    "candidate_origin": Reason.ORIGIN,
    "candidate_overlay_digest": Reason.OVERLAY,
    "target_base_digests": Reason.TARGETS,
    "required_candidate_arms": Reason.ARMS,
    "selected_tasks": Reason.TASKS,
    "policy": Reason.POLICY,
}


def _against(record: Promotion, bindings: Bindings) -> Iterator[Problem]:
    """Compare all that the promotion is bound to, as canonical values: 5 and 5.0 are the same number."""
    for field, reason in _BOUND.items():
        said, is_today = getattr(record, field), getattr(bindings, field)
        if said != is_today:
            told = differences(_plain(record, field), _plain(bindings, field), field)
            yield Problem(reason, "; ".join(told))


def _plain(of: Bindings, field: str) -> JsonValue:
    plain: JsonValue = of.model_dump(mode="json", by_alias=True, include={field})[field]
    return plain


def differences(said: JsonValue, found: JsonValue, where: str) -> list[str]:
    """Name each place where two documents differ, the first ten."""
    return list(_differences(said, found, where))[:_MOST_DIFFERENCES]


def _differences(said: JsonValue, found: JsonValue, where: str) -> Iterator[str]:
    if isinstance(said, dict) and isinstance(found, dict):
        for name in sorted(said.keys() | found.keys()):
            yield from _differences(said.get(name), found.get(name), f"{where}.{name}")
    elif isinstance(said, list) and isinstance(found, list) and len(said) == len(found):
        for index, both in enumerate(zip(said, found, strict=True)):
            yield from _differences(*both, f"{where}.{index}")
    elif said != found or isinstance(said, bool) != isinstance(found, bool):
        yield f"{where}: {said!r} in the record, {found!r} found"


def _of_times(record: Promotion, now: datetime) -> Iterator[Problem]:
    made, expires = record.generated_at, record.evidence_expires_at
    if made > now + AHEAD:
        yield Problem(Reason.FUTURE, f"it was made at {made}, and it is {now}")
    if expires <= made:
        yield Problem(Reason.EXPIRY_EARLY, f"it expires at {expires}, and was made at {made}")
    if expires > made + LIFE:
        yield Problem(Reason.EXPIRY_LATE, f"it expires at {expires}, more than {LIFE.days} days after {made}")
    if expires < now:
        yield Problem(Reason.EXPIRED, f"it expired at {expires}, and it is {now}; run the sweep again")


def _of_list(record: Promotion, required: tuple[str, ...]) -> Iterator[Problem]:
    """Ask for one decision of each candidate, in their order."""
    named = [one.candidate_arm for one in record.decisions]
    missing, unrelated = [arm for arm in required if arm not in named], sorted(set(named) - set(required))
    twice = sorted(arm for arm, count in Counter(named).items() if count > 1)
    for reason, arms in (
        (Reason.DECISION_MISSING, missing),
        (Reason.DECISION_UNRELATED, unrelated),
        (Reason.DECISION_DUPLICATE, twice),
    ):
        if arms:
            yield Problem(reason, f"decisions: {', '.join(arms)}")
    if Counter(named) == Counter(required) and named != list(required):
        yield Problem(Reason.DECISION_ORDER, f"decisions are of {', '.join(named)}, not of {', '.join(required)}")


AnyDecision = ImplementationDecision | ReviewDecision


def _of_decision(record: Promotion, decision: AnyDecision, incumbents: Mapping[str, str]) -> Iterator[Problem]:
    where, arm = decision.candidate_arm, decision.incumbent_arm
    right = incumbents.get(where)
    if arm != right:
        yield Problem(Reason.DECISION_INCUMBENT, f"{where} is set against {arm}, and its incumbent is {right}")
    if decision.decision is not Choice.PROMOTE:
        yield Problem(Reason.NOT_PROMOTE, f"{where}: the decision is {decision.decision}")
    rules = record.policy.get(where)
    if rules is None or decision.metric != rules.metric:
        asked = None if rules is None else rules.metric
        yield Problem(Reason.DECISION_METRIC, f"{where}: decided by {decision.metric}, and the policy's is {asked}")
    yield from _of_tasks(record, decision)
    for task in decision.tasks:
        yield from _of_arm(f"{where}: {task.task}: incumbent", task.incumbent)
        yield from _of_arm(f"{where}: {task.task}: candidate", task.candidate)
    if isinstance(decision, ReviewDecision):
        yield from _of_flags(decision)
    yield from _recomputed(record, decision, right)


def _of_tasks(record: Promotion, decision: AnyDecision) -> Iterator[Problem]:
    where, tasks = decision.candidate_arm, decision.tasks
    if sorted(task.task for task in tasks) != sorted(task.id for task in record.selected_tasks):
        yield Problem(Reason.EVIDENCE_TASKS, f"{where}: its evidence is not of each selected task, once")
    ungated = [task.task for task in tasks if not task.gated]
    if isinstance(decision, ReviewDecision):
        if ungated or decision.ungated_tasks:
            yield Problem(Reason.REVIEW_UNGATED, f"{where}: every case of a review decides")
        return
    if sorted(ungated) != sorted(decision.ungated_tasks):
        yield Problem(Reason.UNGATED_LIST, f"{where}: ungated are {', '.join(ungated) or 'none'}, the list says else")
    gated = len(tasks) - len(ungated)
    if gated == 0 or 2 * gated < len(tasks):
        yield Problem(Reason.FEW_GATED, f"{where}: {gated} of {len(tasks)} tasks are gated, fewer than half")


_RATIOS = tuple(
    f"review_{name}"
    for name in (
        "precision",
        "recall",
        "f1",
        "weighted_precision",
        "weighted_recall",
        "weighted_f1",
        "blocker_recall",
        "severity_accuracy",
        "category_accuracy",
        "grounded_evidence",
    )
)


def _of_arm(where: str, arm: Aggregate) -> Iterator[Problem]:
    if arm.runs != arm.valid_runs + arm.excluded_runs:
        yield Problem(Reason.RUNS, f"{where}: {arm.runs} runs, {arm.valid_runs} valid, {arm.excluded_runs} excluded")
    if arm.resolved > arm.valid_runs:
        yield Problem(Reason.RESOLVED, f"{where}: {arm.resolved} resolved of {arm.valid_runs} valid")
    for name in _RATIOS:
        share = getattr(arm, name)
        if share is not None and share > 1:
            yield Problem(Reason.RATIO, f"{where}: {name} is {share}")


def _of_flags(decision: ReviewDecision) -> Iterator[Problem]:
    for task in decision.tasks:
        both = (task.incumbent.review_clean_control, task.candidate.review_clean_control)
        if both[0] is not both[1]:
            yield Problem(Reason.CLEAN_FLAG, f"{task.task}: clean to {both[0]} before and to {both[1]} now")


def _recomputed(record: Promotion, decision: AnyDecision, incumbent: str | None) -> Iterator[Problem]:
    """Decide again from the decision's own numbers; all but its free texts must come out."""
    made = decide_again(record, decision, incumbent or decision.incumbent_arm)
    said, again = (one.model_dump(mode="json", by_alias=True, exclude={"reasons"}) for one in (decision, made))
    found = differences(said, again, decision.candidate_arm)
    if found:
        yield Problem(Reason.RECOMPUTED, "; ".join(found))


def decide_again(record: Promotion, decision: AnyDecision, incumbent: str) -> AnyDecision:
    """Decide by the record's policy from the numbers that the decision itself holds."""
    contests = [Contest(task.task, task.incumbent, task.candidate) for task in decision.tasks]
    sweep = Sweep(decision.candidate_arm, incumbent, record.benchmark_model, CloseReason.COMPLETE)
    rules = record.policy.get(decision.candidate_arm)
    pinned = {} if record.farm is None else record.farm.gate.options
    given = {} if rules is None else rules.model_dump(mode="json")
    if isinstance(decision, ReviewDecision):
        given.pop("metric", None)
        policy = read_policy({**pinned, "work": "review", **given})
    else:
        policy = read_policy({**pinned, "work": "implementation", **given})
    if isinstance(policy, ImplementationPolicy):
        return implementation.rule_on(contests, policy, sweep).decision
    return review.rule_on(contests, policy, sweep).decision
