"""What the verdict tells beside its checks: every estimand, and the runs that a person must look at."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from pydantic import JsonValue

from farm.gates.reliability.attribution import Attribution, attribute
from farm.gates.reliability.effects import Effects
from farm.gates.reliability.part_summary import PartSummary, Rate
from farm.gates.reliability.policy import ReliabilityPolicy
from farm.gates.reliability.repair import Repairs
from farm.gates.reliability.ruling import Found
from farm.gates.reliability.runs import Run, Runs
from farm.gates.reliability.trial import Part
from farm.model import Terminal, known_sum
from farm.stats.bootstrap import Bootstrap

MOST_LISTED = 200
"""Runs in a list; the counts are of all."""

Record = dict[str, JsonValue]


def record(found: Found, runs: Runs, rules: ReliabilityPolicy) -> Record:
    """Write the findings; the same runs give the same bytes."""
    governed = {part: runs.measured[part] for part in (Part.MODEL, Part.REFERENCE)}
    return {
        "authorship": found.authorship.value,
        "parts": {
            part.value: {**_part(found.parts[part]), **_means(runs.measured[part]), **_ends(runs.measured[part])}
            for part in Part
        },
        "effects": _effects(found.effects),
        "relative_reduction": found.reduction,
        "weighted_false_rejection_cost": found.weighted_cost,
        "cost_weights": {"exhaustion": rules.exhaustion_weight, "abstention": rules.abstention_weight},
        "by_task": _by_task(runs),
        "check_attribution": {part.value: _attributed(of) for part, of in governed.items()},
        "repairs": {part.value: _repaired(of) for part, of in governed.items()},
        "false_certifications": _listed(run for run in runs if run.trial.false_certification),
        "false_rejections": _listed(run for run in runs if run.trial.false_rejection),
        "contradictions": _listed(
            run for run in runs if run.trial.claims_success and run.trial.terminal is Terminal.EXHAUSTED
        ),
        "successes_to_look_at": _sample(runs, rules),
        "missing": list(runs.missing[:MOST_LISTED]),
        "review": "off",
        "note": "check attribution and repairs are counts; they claim no cause",
    }


def _rate(rate: Rate) -> Record:
    interval = rate.interval
    return {"count": rate.count, "of": rate.of, "share": rate.share, "wilson95": [interval.low, interval.high]}


def _part(summary: PartSummary) -> Record:
    return {
        "runs": summary.runs,
        "oracle_passed": _rate(Rate(summary.oracle_passed, summary.runs)),
        "false_success": _rate(summary.false_success),
        "false_exhaustion": _rate(summary.false_exhaustion),
        "false_abstention": _rate(summary.false_abstention),
        "terminal_false_rejection": _rate(summary.terminal_false_rejection),
        "false_rejection": _rate(summary.false_rejection),
        "false_certifications": summary.false_certifications,
        "adoption": _rate(summary.adoption),
        "fidelity": _rate(summary.fidelity),
        "right": _rate(summary.right),
        "operational_failures": summary.operational_failures,
    }


def _ends(runs: Sequence[Run]) -> Record:
    """Count how runs ended, and what the oracle said of those that adopted a contract."""
    adopted = [run for run in runs if run.trial.has_contract]
    cross: Record = {
        terminal.value: {
            "oracle_passed": sum(run.trial.terminal is terminal and run.trial.oracle_passed for run in adopted),
            "oracle_failed": sum(run.trial.terminal is terminal and not run.trial.oracle_passed for run in adopted),
        }
        for terminal in Terminal
    }
    claims: Record = {
        f"{'claimed' if claimed else 'not_claimed'}_{'passed' if passed else 'failed'}": sum(
            (run.trial.claims_success, run.trial.oracle_passed) == (claimed, passed) for run in runs
        )
        for claimed in (True, False)
        for passed in (True, False)
    }
    return {
        "claims_by_oracle": claims,
        "terminals_by_oracle": cross,
        "adopted_false_exhaustion": _rate(_among(adopted, [run for run in adopted if run.trial.false_exhaustion])),
        "adopted_false_abstention": _rate(_among(adopted, [run for run in adopted if run.trial.false_abstention])),
    }


def _among(adopted: Sequence[Run], chosen: Sequence[Run]) -> Rate:
    """Judge the contracts alone: of the runs that opened one and that the oracle passes."""
    return Rate(len(chosen), sum(run.trial.oracle_passed for run in adopted))


def _means(runs: Sequence[Run]) -> Record:
    """Average what is known; null where nothing is."""
    rows = [run.row for run in runs]
    turns = [known_sum(session.turns for session in row.sessions) for row in rows]
    usages = [[session.metered_usage for session in row.sessions] for row in rows]
    told = [[one for one in of if one is not None] for of in usages if None not in of]
    return {
        "mean_duration_s": _mean([row.duration_s for row in rows if row.duration_s is not None]),
        "mean_turns": _mean([one for one in turns if one is not None]),
        "mean_input_tokens": _mean([sum(one.input_tokens or 0 for one in of) for of in told]),
        "mean_output_tokens": _mean([sum(one.output_tokens or 0 for one in of) for of in told]),
        "mean_cost_usd": _mean([float(row.cost_usd) for row in rows if row.cost_usd is not None]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _effects(found: Effects) -> Record:
    flip, run_level = found.sign_flip, found.mcnemar
    return {
        "benefit": _drawn(found.benefit),
        "success": _drawn(found.success),
        "rejection_penalty": _drawn(found.rejection),
        "terminal_rejection_penalty": _drawn(found.terminal_rejection),
        "sign_flip_p": flip.p_value,
        "mcnemar_exact": {"p": run_level.p_value, "decides": False},
    }


def _drawn(found: Bootstrap | None) -> JsonValue:
    if found is None:
        return None
    return {"estimate": found.estimate, "bootstrap95": [found.interval.low, found.interval.high]}


def _by_task(runs: Runs) -> Record:
    tasks: dict[str, dict[str, list[Run]]] = {}
    for run in runs:
        tasks.setdefault(run.trial.task, {}).setdefault(run.trial.part.value, []).append(run)
    return {task: {part: _task(of) for part, of in parts.items()} for task, parts in tasks.items()}


def _task(runs: Sequence[Run]) -> Record:
    return {
        "runs": len(runs),
        "oracle_passed": sum(run.trial.oracle_passed for run in runs),
        "claimed": sum(run.trial.claims_success for run in runs),
        "false_success": sum(run.trial.false_success for run in runs),
        "right": sum(run.trial.is_right for run in runs),
    }


def _attributed(runs: Sequence[Run]) -> Record:
    found: dict[str, Attribution] = attribute(run.checked for run in runs)
    return {kind: asdict(one) for kind, one in found.items()}


def _repaired(runs: Sequence[Run]) -> Record:
    every: list[Repairs] = [run.repairs for run in runs]
    return {name: sum(getattr(one, name) for one in every) for name in Repairs.__dataclass_fields__}


def _listed(runs: Iterable[Run]) -> JsonValue:
    every = list(runs)
    return {"count": len(every), "runs": [_told(run) for run in every[:MOST_LISTED]]}


def _told(run: Run) -> Record:
    last = run.governed.attempts[-1] if run.governed.attempts else None
    return {
        "cell": run.row.cell,
        "part": run.trial.part.value,
        "terminal": run.trial.terminal.value,
        "oracle_passed": run.trial.oracle_passed,
        "claims_success": run.trial.claims_success,
        "attempts": len(run.governed.attempts),
        "failed_checks": [] if last is None else [one.id for one in last.results if not one.passed],
        "receipt": None if last is None else last.receipt,
    }


def _sample(runs: Runs, rules: ReliabilityPolicy) -> JsonValue:
    """Draw right runs that claimed success: their evidence deserves a look as much as a failure's."""
    right = [run for run in runs if run.trial.is_right and run.trial.claims_success]
    dice = random.Random(rules.seed)  # noqa: S311 (a sample, not a secret)
    drawn = dice.sample(right, min(rules.sample, len(right)))
    return [*sorted(run.row.cell for run in drawn)]
