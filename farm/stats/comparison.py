"""Two arms of one table of trials, compared in every way that its numbers allow."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import mean

from farm.stats.bootstrap import Bootstrap, Pcg64, cluster_bootstrap
from farm.stats.mcnemar import McNemar, mcnemar
from farm.stats.paired import PairedDifference, Runs, paired_difference
from farm.stats.sign_flip import SignFlip, sign_flip


@dataclass(frozen=True, slots=True)
class Trial:
    """One run's outcome."""

    task: str
    arm: str
    trial: str
    outcome: Fraction


@dataclass(frozen=True, slots=True)
class Comparison:
    """Left minus right."""

    left: str
    right: str
    left_runs: int
    right_runs: int
    left_mean: float
    """Over tasks, each weighing the same."""
    right_mean: float
    difference: PairedDifference
    bootstrap: Bootstrap
    sign_flip: SignFlip
    mcnemar: McNemar | None
    """Over the trials that both arms have; None unless every outcome is 0 or 1."""


def compare(trials: Iterable[Trial], left: str, right: str, seed: int = 0) -> Comparison | None:
    """Compare two arms; None when no task has a run of both.

    Each estimand, denominator and variant is that of the function of the same name in `farm.stats`: all of them weigh
    the tasks that both arms have the same, whatever their number of runs, but McNemar's, which pairs runs by their
    trial. The bootstrap draws the tasks in alphabetical order, by PCG64 from `seed`.
    """
    runs: dict[str, dict[str, list[Trial]]] = {left: defaultdict(list), right: defaultdict(list)}
    for one in trials:
        if one.arm in runs:
            runs[one.arm][one.task].append(one)
    both = sorted(runs[left].keys() & runs[right].keys())
    found = paired_difference(_floats(runs[left]), _floats(runs[right]))
    differences = [_mean(runs[left][task]) - _mean(runs[right][task]) for task in both]
    drawn = cluster_bootstrap([float(one) for one in differences], Pcg64(seed))
    if found is None or drawn is None:
        return None
    return Comparison(
        left=left,
        right=right,
        left_runs=sum(len(runs[left][task]) for task in both),
        right_runs=sum(len(runs[right][task]) for task in both),
        left_mean=float(mean(_mean(runs[left][task]) for task in both)),
        right_mean=float(mean(_mean(runs[right][task]) for task in both)),
        difference=found,
        bootstrap=drawn,
        sign_flip=sign_flip(differences, seed),
        mcnemar=_mcnemar([run for task in both for run in runs[left][task]], runs[right]),
    )


def _floats(runs: Mapping[str, Sequence[Trial]]) -> Runs:
    return {task: [float(one.outcome) for one in of] for task, of in runs.items()}


def _mean(runs: Sequence[Trial]) -> Fraction:
    return mean(one.outcome for one in runs)


def _mcnemar(lefts: Sequence[Trial], rights: Mapping[str, Sequence[Trial]]) -> McNemar | None:
    other = {(one.task, one.trial): one for of in rights.values() for one in of}
    pairs = [(one, other[one.task, one.trial]) for one in lefts if (one.task, one.trial) in other]
    if not pairs or any(one.outcome not in {0, 1} for pair in pairs for one in pair):
        return None
    return mcnemar(
        sum(mine.outcome > theirs.outcome for mine, theirs in pairs),
        sum(mine.outcome < theirs.outcome for mine, theirs in pairs),
    )
