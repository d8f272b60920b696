"""One arm's numbers, as the verdict tells them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from farm.gates.reliability.part_summary import PartSummary, Rate
from farm.gates.reliability.runs import Run
from farm.gates.reliability.told import (
    ClaimsTold,
    EndTold,
    MeansTold,
    OperationTold,
    PartTold,
    RateTold,
    TaskTold,
)
from farm.gates.reliability.trial import Trial
from farm.model import ExitReason, SessionReport, Terminal, Usage, known_sum


def tell_rate(rate: Rate) -> RateTold:
    """Write a rate out."""
    interval = rate.interval
    return RateTold(count=rate.count, of=rate.of, share=rate.share, low=interval.low, high=interval.high)


def tell_part(arm: str, summary: PartSummary, runs: Sequence[Run], tasks: Sequence[TaskTold]) -> PartTold:
    """Write one arm's numbers out; `tasks` are the same runs, task by task."""
    return PartTold(
        arm=arm,
        runs=summary.runs,
        oracle_passed=tell_rate(Rate(summary.oracle_passed, summary.runs)),
        false_success=tell_rate(summary.false_success),
        false_certifications=summary.false_certifications,
        false_exhaustion=tell_rate(summary.false_exhaustion),
        false_abstention=tell_rate(summary.false_abstention),
        terminal_false_rejection=tell_rate(summary.terminal_false_rejection),
        false_rejection=tell_rate(summary.false_rejection),
        adopted_false_exhaustion=_adopted(runs, lambda trial: trial.false_exhaustion),
        adopted_false_abstention=_adopted(runs, lambda trial: trial.false_abstention),
        adopted_false_rejection=_adopted(runs, lambda trial: trial.false_rejection),
        adoption=tell_rate(summary.adoption),
        fidelity=tell_rate(summary.fidelity),
        receipts=tell_rate(Rate(sum(bool(run.governed.attempts) for run in runs), len(runs))),
        right=tell_rate(summary.right),
        stable_tasks=tell_rate(Rate(sum(task.right == task.runs for task in tasks), len(tasks))),
        mixed_tasks=sum(not task.is_consistent for task in tasks),
        operational_failures=summary.operational_failures,
        operation=_operation(runs),
        claims=_claims(runs),
        ends=_ends(runs),
        means=_means(runs),
    )


def tell_task(trials: Sequence[Trial]) -> TaskTold:
    """Count one task's runs in one arm."""
    return TaskTold(
        runs=len(trials),
        oracle_passed=sum(trial.oracle_passed for trial in trials),
        claimed=sum(trial.claims_success for trial in trials),
        false_success=sum(trial.false_success for trial in trials),
        right=sum(trial.is_right for trial in trials),
        is_consistent=len({(trial.oracle_passed, trial.claims_success) for trial in trials}) == 1,
    )


def _adopted(runs: Sequence[Run], flag: Callable[[Trial], bool]) -> RateTold:
    """Judge the contracts alone: of the runs that opened one and that the oracle passes."""
    passed = [run.trial for run in runs if run.trial.has_contract and run.trial.oracle_passed]
    return tell_rate(Rate(sum(map(flag, passed)), len(passed)))


def _operation(runs: Sequence[Run]) -> OperationTold:
    return OperationTold(
        no_contract=sum(not run.trial.has_contract for run in runs),
        unresolved=sum(run.trial.has_contract and run.trial.terminal is Terminal.NONE for run in runs),
        timed_out=sum(any(one.reason == ExitReason.WALL_LIMIT for one in run.row.sessions) for run in runs),
        nonzero_exit=sum(any(not one.exit.is_zero for one in run.row.sessions) for run in runs),
        session_missing=sum(not run.row.sessions for run in runs),
    )


def _claims(runs: Sequence[Run]) -> ClaimsTold:
    found = Counter((run.trial.claims_success, run.trial.oracle_passed) for run in runs)
    return ClaimsTold(
        claimed_passed=found[True, True],
        claimed_failed=found[True, False],
        silent_passed=found[False, True],
        silent_failed=found[False, False],
    )


def _ends(runs: Sequence[Run]) -> Mapping[Terminal, EndTold]:
    found = Counter((run.trial.terminal, run.trial.oracle_passed) for run in runs if run.trial.has_contract)
    return {one: EndTold(oracle_passed=found[one, True], oracle_failed=found[one, False]) for one in Terminal}


def _means(runs: Sequence[Run]) -> MeansTold:
    def of(number: Callable[[SessionReport], int | None]) -> float | None:
        return _mean(_of_all(run.row.sessions, number) for run in runs if run.row.sessions)

    return MeansTold(
        duration_s=_mean(run.row.duration_s for run in runs),
        turns=of(lambda session: session.turns),
        input_tokens=of(lambda session: _tokens(session.metered_usage, lambda usage: usage.input_tokens)),
        output_tokens=of(lambda session: _tokens(session.metered_usage, lambda usage: usage.output_tokens)),
        tool_calls=of(lambda session: None if session.tool_calls is None else sum(session.tool_calls.values())),
        cost_usd=_mean(None if run.row.cost_usd is None else float(run.row.cost_usd) for run in runs),
    )


def _of_all(sessions: Sequence[SessionReport], number: Callable[[SessionReport], int | None]) -> int | None:
    """Add up; nearly every run has one session, and a sweep may have a million."""
    return number(sessions[0]) if len(sessions) == 1 else known_sum(map(number, sessions))


def _tokens(usage: Usage | None, which: Callable[[Usage], int | None]) -> int | None:
    return None if usage is None else which(usage)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return sum(known) / len(known) if known else None
