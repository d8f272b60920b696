"""What the verdict tells beside its checks: every estimand, and the runs that a person must look at."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from farm.gates.reliability.attribution import attribute
from farm.gates.reliability.effects import Effects
from farm.gates.reliability.part_told import tell_part, tell_task
from farm.gates.reliability.policy import ReliabilityPolicy
from farm.gates.reliability.repair import Repairs
from farm.gates.reliability.ruling import Found, Ruling
from farm.gates.reliability.runs import Run, Runs
from farm.gates.reliability.told import (
    EffectsTold,
    EffectTold,
    Findings,
    KindTold,
    Listed,
    McNemarTold,
    PairsTold,
    RepairsTold,
    RunTold,
    SignFlipTold,
    TaskTold,
)
from farm.gates.reliability.trial import Part, Trial
from farm.model import Terminal
from farm.stats.bootstrap import Bootstrap

MOST_LISTED = 200
"""Runs in a list; the counts are of all."""

ByTask = Mapping[str, Mapping[Part, TaskTold]]


def tell(ruling: Ruling, found: Found, runs: Runs, rules: ReliabilityPolicy) -> Findings:
    """Write the findings; the same runs give the same bytes."""
    governed = {part: runs.measured[part] for part in (Part.MODEL, Part.REFERENCE)}
    arm_of = {part: arm for arm, part in rules.parts.by_arm.items()}
    by_task = _by_task(runs)
    of_part = {part: [parts[part] for parts in by_task.values() if part in parts] for part in Part}
    every = [*runs]
    return Findings(
        ruling=ruling,
        authorship=found.authorship,
        parts={part: tell_part(arm_of[part], found.parts[part], runs.measured[part], of_part[part]) for part in Part},
        effects=_effects(found.effects),
        relative_reduction=found.reduction,
        weighted_false_rejection_cost=found.weighted_cost,
        exhaustion_weight=rules.exhaustion_weight,
        abstention_weight=rules.abstention_weight,
        pairs={part: _pairs(runs.measured[Part.BASELINE], of) for part, of in governed.items()},
        by_task=by_task,
        check_attribution={part: _attributed(of) for part, of in governed.items()},
        repairs={part: _repaired(of) for part, of in governed.items()},
        false_certifications=_listed(run for run in every if run.trial.false_certification),
        false_rejections=_listed(run for run in every if run.trial.false_rejection),
        contradictions=_listed(
            run for run in every if run.trial.claims_success and run.trial.terminal is Terminal.EXHAUSTED
        ),
        successes_to_look_at=_sample(every, rules),
        missing=runs.missing[:MOST_LISTED],
    )


def _effects(found: Effects) -> EffectsTold:
    flip, run_level = found.sign_flip, found.mcnemar
    return EffectsTold(
        benefit=_drawn(found.benefit),
        success=_drawn(found.success),
        rejection_penalty=_drawn(found.rejection),
        terminal_rejection_penalty=_drawn(found.terminal_rejection),
        sign_flip=SignFlipTold(tasks=flip.tasks, nonzero=flip.nonzero, p_value=flip.p_value),
        mcnemar=McNemarTold(
            baseline_only=run_level.left_only, model_only=run_level.right_only, p_value=run_level.p_value
        ),
    )


def _drawn(found: Bootstrap | None) -> EffectTold | None:
    if found is None:
        return None
    return EffectTold(estimate=found.estimate, low=found.interval.low, high=found.interval.high)


def _pairs(baseline: Sequence[Run], governed: Sequence[Run]) -> PairsTold:
    before = {(run.trial.task, run.trial.number): run.trial.oracle_passed for run in baseline}
    keyed = (((run.trial.task, run.trial.number), run.trial.oracle_passed) for run in governed)
    pairs = [(before[key], passed) for key, passed in keyed if key in before]
    return PairsTold(
        both_passed=pairs.count((True, True)),
        rescue_candidates=pairs.count((False, True)),
        regression_candidates=pairs.count((True, False)),
        both_failed=pairs.count((False, False)),
    )


def _by_task(runs: Runs) -> ByTask:
    tasks: dict[str, dict[Part, list[Trial]]] = {}
    for run in runs:
        tasks.setdefault(run.trial.task, {}).setdefault(run.trial.part, []).append(run.trial)
    return {task: {part: tell_task(of) for part, of in parts.items()} for task, parts in tasks.items()}


def _attributed(runs: Sequence[Run]) -> Mapping[str, KindTold]:
    found = attribute(run.checked for run in runs)
    return {kind: KindTold(**asdict(one)) for kind, one in found.items()}


def _repaired(runs: Sequence[Run]) -> RepairsTold:
    every: list[Repairs] = [run.repairs for run in runs if run.governed.attempts]
    return RepairsTold(
        live=sum(one.live for one in every),
        eligible=sum(one.eligible for one in every),
        rescues=sum(one.rescues for one in every),
        regressions=sum(one.regressions for one in every),
        broken_after_certification=sum(one.broken_after_certification for one in every),
    )


def _listed(runs: Iterable[Run]) -> Listed:
    every = list(runs)
    return Listed(count=len(every), runs=tuple(map(_told, every[:MOST_LISTED])))


def _told(run: Run) -> RunTold:
    last = run.governed.attempts[-1] if run.governed.attempts else None
    return RunTold(
        cell=run.row.cell,
        part=run.trial.part,
        terminal=run.trial.terminal,
        oracle_passed=run.trial.oracle_passed,
        claims_success=run.trial.claims_success,
        attempts=len(run.governed.attempts),
        failed_checks=() if last is None else tuple(one.id for one in last.results if not one.passed),
        receipt=None if last is None else last.receipt,
    )


def _sample(runs: Sequence[Run], rules: ReliabilityPolicy) -> tuple[str, ...]:
    """Draw right runs that claimed success: their evidence deserves a look as much as a failure's."""
    right = [run for run in runs if run.trial.is_right and run.trial.claims_success]
    dice = random.Random(rules.seed)  # noqa: S311 (a sample, not a secret)
    drawn = dice.sample(right, min(rules.sample, len(right)))
    return tuple(sorted(run.row.cell for run in drawn))
