"""The ruling: harm first, then the fourteen things that a proof needs, else inconclusive."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from farm.gates.reliability.effects import Effects, effects
from farm.gates.reliability.part_summary import PartSummary, summarize
from farm.gates.reliability.policy import ReliabilityPolicy
from farm.gates.reliability.trial import Part, Trial
from farm.model import Check
from farm.stats.bootstrap import Bootstrap


class Ruling(StrEnum):
    """What the benchmark says."""

    PROVEN = "PROVEN"
    HARMFUL = "HARMFUL"
    INCONCLUSIVE = "INCONCLUSIVE"


class Authorship(StrEnum):
    """What writing its own contract costs an agent; independent of the ruling."""

    CONTRACT = "MODEL_CONTRACT_AUTHORSHIP_RISK"
    ADOPTION = "ADOPTION_OR_REPORTING_RISK"
    CHECKS = "CHECK_OR_REPAIR_GATE_RISK"
    NONE = "NO_MATERIAL_SELF_AUTHORSHIP_PENALTY"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True)
class Registration:
    """What is known of the sweep's pre-registration."""

    is_locked: bool = False
    is_committed: bool = False
    """The tracked tree was clean."""
    is_published: bool = False
    """Its commit is the upstream one."""


@dataclass(frozen=True, slots=True)
class Found:
    """The ruling and all that it rests on."""

    ruling: Ruling
    proof: tuple[Check, ...]
    harm: tuple[Check, ...]
    """A check that holds shows harm."""
    authorship: Authorship
    parts: Mapping[Part, PartSummary]
    effects: Effects
    reduction: float
    """Of the share of false successes, against the baseline's; 0 where that has none."""
    weighted_cost: float
    """Of false exhaustions and abstentions: shown, and decides nothing."""


def rule(trials: Mapping[Part, Sequence[Trial]], registration: Registration, policy: ReliabilityPolicy) -> Found:
    """Judge the runs of the three parts, each in the plan's order of tasks."""
    parts = {part: summarize(trials[part]) for part in Part}
    compared = effects(trials, policy)
    baseline, model = parts[Part.BASELINE], parts[Part.MODEL]
    share = baseline.false_success.share
    reduction = (share - model.false_success.share) / share if share else 0.0
    harm = _harm(parts, compared, policy)
    proof = (
        *_registered(registration),
        *_size(trials, policy),
        *_governing(parts, policy),
        *_gain(compared, reduction, policy),
    )
    ruling = Ruling.INCONCLUSIVE
    if any(check.holds for check in harm):
        ruling = Ruling.HARMFUL
    elif all(check.holds for check in proof):
        ruling = Ruling.PROVEN
    cost = (
        policy.exhaustion_weight * model.false_exhaustion.share
        + policy.abstention_weight * model.false_abstention.share
    )
    return Found(ruling, proof, harm, _authorship(parts, compared, policy), parts, compared, reduction, cost)


def _check(name: str, operator: str, threshold: JsonValue, observed: JsonValue, *, holds: bool) -> Check:
    return Check(name=name, subject="sweep", operator=operator, threshold=threshold, observed=observed, holds=holds)


def _registered(registration: Registration) -> tuple[Check, ...]:
    published = registration.is_committed and registration.is_published
    return (
        _check("locked", "==", threshold=True, observed=registration.is_locked, holds=registration.is_locked),
        _check("committed-and-published", "==", threshold=True, observed=published, holds=published),
    )


def _size(trials: Mapping[Part, Sequence[Trial]], policy: ReliabilityPolicy) -> tuple[Check, ...]:
    counts = [Counter(trial.task for trial in trials[part]) for part in Part]
    count = min(map(len, counts))
    fewest = min((least for one in counts for least in one.values()), default=0)
    return (
        _check("tasks", "==", policy.tasks, count, holds=count == policy.tasks),
        _check("trials", ">=", policy.least_trials, fewest, holds=fewest >= policy.least_trials),
    )


def _governing(parts: Mapping[Part, PartSummary], policy: ReliabilityPolicy) -> tuple[Check, ...]:
    model, reference = parts[Part.MODEL], parts[Part.REFERENCE]
    failures = sum(part.operational_failures for part in parts.values())
    false = model.false_certifications + reference.false_certifications
    adoption, fidelity = model.adoption.interval.low, reference.fidelity.interval.low
    exhaustion, abstention = model.false_exhaustion.interval.high, model.false_abstention.interval.high
    return (
        _check("operational-failures", "==", 0, failures, holds=failures == 0),
        _check("false-certifications", "==", 0, false, holds=false == 0),
        _check("adoption", ">=", policy.least_adoption, adoption, holds=adoption >= policy.least_adoption),
        _check("fidelity", ">=", policy.least_fidelity, fidelity, holds=fidelity >= policy.least_fidelity),
        _check(
            "false-exhaustion",
            "<=",
            policy.most_false_exhaustion,
            exhaustion,
            holds=exhaustion <= policy.most_false_exhaustion,
        ),
        _check(
            "false-abstention",
            "<=",
            policy.most_false_abstention,
            abstention,
            holds=abstention <= policy.most_false_abstention,
        ),
    )


def _gain(compared: Effects, reduction: float, policy: ReliabilityPolicy) -> tuple[Check, ...]:
    success, benefit, flip = _low(compared.success), _low(compared.benefit), compared.sign_flip
    is_gain = compared.benefit is not None and compared.benefit.estimate > 0
    return (
        _check(
            "success",
            ">=",
            -policy.success_margin,
            success,
            holds=success is not None and success >= -policy.success_margin,
        ),
        _check("reduction", ">=", policy.least_reduction, reduction, holds=reduction >= policy.least_reduction),
        _check("benefit", ">", 0, benefit, holds=benefit is not None and benefit > 0),
        _check("sign-flip", "<=", policy.alpha, flip.p_value, holds=is_gain and flip.p_value <= policy.alpha),
    )


def _harm(parts: Mapping[Part, PartSummary], compared: Effects, policy: ReliabilityPolicy) -> tuple[Check, ...]:
    baseline, model, reference = (parts[part] for part in Part)
    mine, theirs = model.false_success.share, baseline.false_success.share
    high = None if compared.success is None else compared.success.interval.high
    exhaustion = model.false_exhaustion.share
    return (
        _check("more-false-success", ">", theirs, mine, holds=mine > theirs),
        _check("model-certifies-falsely", ">", 0, model.false_certifications, holds=model.false_certifications > 0),
        _check(
            "reference-certifies-falsely",
            ">",
            0,
            reference.false_certifications,
            holds=reference.false_certifications > 0,
        ),
        _check(
            "less-success", "<", -policy.success_margin, high, holds=high is not None and high < -policy.success_margin
        ),
        _check(
            "exhausts-falsely",
            ">",
            policy.most_false_exhaustion,
            exhaustion,
            holds=exhaustion > policy.most_false_exhaustion,
        ),
    )


def _authorship(parts: Mapping[Part, PartSummary], compared: Effects, policy: ReliabilityPolicy) -> Authorship:
    terminal, product = compared.terminal_rejection, compared.rejection
    if terminal is None or product is None:
        return Authorship.INCONCLUSIVE
    if terminal.interval.low > policy.penalty_margin:
        return Authorship.CONTRACT
    if product.interval.low > policy.penalty_margin:
        return Authorship.ADOPTION
    if max(terminal.interval.high, product.interval.high) > policy.penalty_margin:
        return Authorship.INCONCLUSIVE
    rejected = parts[Part.REFERENCE].terminal_false_rejection.share
    return Authorship.CHECKS if rejected > policy.most_reference_rejection else Authorship.NONE


def _low(found: Bootstrap | None) -> float | None:
    return None if found is None else found.interval.low
