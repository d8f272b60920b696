"""The effects between two parts, over the tasks that both have, in the plan's order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from farm.gates.reliability.policy import ReliabilityPolicy
from farm.gates.reliability.trial import Part, Trial
from farm.stats.bootstrap import Bootstrap, Mulberry32, cluster_bootstrap
from farm.stats.mcnemar import McNemar, mcnemar
from farm.stats.sign_flip import SignFlip, sign_flip

Flag = Callable[[Trial], bool]
Trials = Sequence[Trial]


@dataclass(frozen=True, slots=True)
class Effects:
    """What was compared: each left minus right, tasks weighing the same."""

    benefit: Bootstrap | None
    """False successes, baseline minus model."""
    success: Bootstrap | None
    """Passed oracles, model minus baseline."""
    rejection: Bootstrap | None
    """False rejections, model minus reference."""
    terminal_rejection: Bootstrap | None
    """Of those, what the governor itself ended."""
    sign_flip: SignFlip
    """Of the benefit."""
    mcnemar: McNemar
    """Of false successes, run by run: told, and decides nothing."""


def effects(trials: Mapping[Part, Trials], policy: ReliabilityPolicy) -> Effects:
    """Compute them; the generator starts anew from the policy's seed for each."""
    baseline, model, reference = (trials[part] for part in Part)

    def drawn(left: Trials, right: Trials, flag: Flag) -> Bootstrap | None:
        differences = [float(one) for one in _differences(left, right, flag).values()]
        return cluster_bootstrap(differences, Mulberry32(policy.seed), policy.replicates)

    return Effects(
        benefit=drawn(baseline, model, lambda trial: trial.false_success),
        success=drawn(model, baseline, lambda trial: trial.oracle_passed),
        rejection=drawn(model, reference, lambda trial: trial.false_rejection),
        terminal_rejection=drawn(model, reference, lambda trial: trial.terminal_false_rejection),
        sign_flip=_sign_flip(baseline, model),
        mcnemar=_mcnemar(baseline, model),
    )


def _differences(left: Trials, right: Trials, flag: Flag) -> dict[str, Fraction]:
    mine, theirs = _shares(left, flag), _shares(right, flag)
    return {task: share - theirs[task] for task, share in mine.items() if task in theirs}


def _shares(trials: Trials, flag: Flag) -> dict[str, Fraction]:
    """Give the share of each task's runs, in order of first appearance."""
    found: dict[str, list[bool]] = {}
    for trial in trials:
        found.setdefault(trial.task, []).append(flag(trial))
    return {task: Fraction(sum(flags), len(flags)) for task, flags in found.items()}


def _sign_flip(baseline: Trials, model: Trials) -> SignFlip:
    differences = _differences(baseline, model, lambda trial: trial.false_success)
    return sign_flip(list(differences.values()))


def _mcnemar(baseline: Trials, model: Trials) -> McNemar:
    other = {(trial.task, trial.number): trial.false_success for trial in model}
    pairs = [
        (trial.false_success, other[trial.task, trial.number])
        for trial in baseline
        if (trial.task, trial.number) in other
    ]
    return mcnemar(sum(mine > theirs for mine, theirs in pairs), sum(mine < theirs for mine, theirs in pairs))
