"""From the settled sweep to the report's value: pure, so that the same records give the same report."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from farm.gates.contamination import Contamination, contaminations
from farm.gates.paired.noise import noises
from farm.gates.table import Row
from farm.model import (
    Artifact,
    CellId,
    Check,
    CloseReason,
    Decision,
    Digest,
    Measured,
    Outcome,
    Owner,
    Settlement,
    Verdict,
    canonical_json,
    known_sum,
)
from farm.model.keys import AttemptFile, outcome_key, sweep_root, verdict_key
from farm.reporting.budget import budget_warnings
from farm.reporting.ending import ending_warnings
from farm.reporting.medians import task_lines
from farm.reporting.numbers import arm_line, metric_lines
from farm.reporting.operating import gate_operating
from farm.reporting.reliability import reliability_findings
from farm.reporting.report import (
    AttemptLine,
    CellLine,
    CellState,
    GateLine,
    Provenance,
    Report,
    SandboxFacts,
)
from farm.reporting.report_input import ReportInput
from farm.reporting.routing import crossings, label_lines
from farm.reporting.savings import saving_lines
from farm.reporting.taken_over import taken_over_notes
from farm.reporting.text import one_line

_WORST_FIRST = (Decision.FAIL, Decision.INCONCLUSIVE, Decision.PASS)
_ANSWER = 400
_MOST_ALARMS = 5


def build(source: ReportInput) -> Report:
    """Make the report."""
    rows: dict[str, list[Row]] = {arm.name: [] for arm in source.plan.arms}
    for row in source.table.rows:
        rows[row.arm].append(row)
    cells: dict[str, list[CellLine]] = {arm.name: [] for arm in source.plan.arms}
    lines = _cell_lines(source)
    for line in lines:
        cells[line.arm].append(line)
    by_task = task_lines(source.table)
    alike = contaminations(source.table.rows)
    by_label = label_lines(source.plan.tasks, by_task)
    return Report(
        sweep=source.sweep,
        name=source.plan.name,
        decision=_decision(source),
        tasks=tuple(task.id for task in source.plan.tasks),
        skipped=source.plan.skipped,
        trials=source.plan.trials,
        gates=tuple(_gate_line(source, verdict) for verdict in source.verdicts),
        arms=tuple(arm_line(arm, rows[arm.name], cells[arm.name]) for arm in source.plan.arms),
        task_lines=by_task,
        savings=saving_lines(source.plan.arms, by_task),
        labels=by_label,
        crossings=crossings(by_label),
        contaminations=alike,
        noise=tuple(noises(source.table)),
        reliability=reliability_findings(source.verdicts),
        metrics=metric_lines(source.table),
        cells=lines,
        provenance=_provenance(source, alike),
    )


def _decision(source: ReportInput) -> Decision | None:
    """Give the worst of the gates' decisions; a sweep that did not run to its end passes nothing."""
    decisions = {verdict.decision for verdict in source.verdicts}
    worst = next((decision for decision in _WORST_FIRST if decision in decisions), None)
    is_whole = source.close.reason is CloseReason.COMPLETE
    return Decision.INCONCLUSIVE if worst is Decision.PASS and not is_whole else worst


def _gate_line(source: ReportInput, verdict: Verdict) -> GateLine:
    name = verdict.gate.name
    return GateLine(
        gate=name,
        version=verdict.gate.version,
        decision=verdict.decision,
        summary=one_line(verdict.summary, most=500),
        checks=tuple(_clean_check(check) for check in verdict.checks),
        record=_below(source, verdict_key(source.sweep, name)),
        operating=gate_operating(source.table, verdict.gate),
    )


def _clean_check(check: Check) -> Check:
    def clean(value: object) -> object:
        return one_line(value) if isinstance(value, str) else value

    texts = {"threshold": clean(check.threshold), "observed": clean(check.observed), "note": one_line(check.note)}
    return check.model_copy(update=texts)


def _below(source: ReportInput, key: str) -> str:
    return key.removeprefix(sweep_root(source.sweep))


def _cell_lines(source: ReportInput) -> tuple[CellLine, ...]:
    claims = _claims(source.settlement)
    return tuple(_cell_line(source, row, claims[CellId(row.cell)]) for row in source.table.rows)


def _claims(settlement: Settlement) -> Mapping[CellId, frozenset[int]]:
    """Say which attempts of each cell were claimed."""
    return {
        settled.cell: frozenset(place.attempt for place in settled.places if place.file is AttemptFile.CLAIM)
        for settled in settlement.cells
    }


def _cell_line(source: ReportInput, row: Row, claimed: frozenset[int]) -> CellLine:
    cell = CellId(row.cell)
    answer = row.sessions[-1].final_answer if row.sessions else None
    attempts = _attempt_lines(source, row, source.outcomes.get(cell, ()), claimed)
    return CellLine(
        cell=row.cell,
        task=row.task,
        arm=row.arm,
        trial=row.trial,
        state=_state(row),
        problem=_problem(row),
        answer=None if answer is None else one_line(answer, most=_ANSWER),
        metrics=tuple(_clean_measured(measured) for _, measured in sorted(row.metrics.items())),
        cost_usd=known_sum(attempt.cost_usd for attempt in attempts),
        duration_s=row.duration_s,
        attempts=attempts,
    )


def _clean_measured(measured: Measured) -> Measured:
    problem = None if measured.problem is None else one_line(measured.problem)
    return measured.model_copy(update={"problem": problem})


def _state(row: Row) -> CellState:
    if row.unsettled is not None:
        return CellState.UNSETTLED
    if row.fault is not None:
        return CellState.EXCLUDED
    correct = None if row.oracle is None else row.oracle.correct
    if correct is None:
        return CellState.UNJUDGED
    return CellState.CORRECT if correct else CellState.WRONG


def _problem(row: Row) -> str:
    """Say in one line what keeps the cell from a clean, right answer; the first cause there is."""
    causes = [row.unsettled, row.fault and f"{row.fault.kind} fault: {row.fault.detail}"]
    if row.oracle is not None:
        causes += [row.oracle.problem, row.oracle.answer_error]
    causes += [f"session {session.name}: {session.problem}" for session in row.sessions if session.problem]
    if row.scope is not None and not row.scope.is_kept:
        paths = row.scope.before_oracle + row.scope.after_oracle
        causes.append(f"changed outside the scope: {paths[0]}" + (f" and {len(paths) - 1} more" if paths[1:] else ""))
    causes += [measured.problem for measured in row.metrics.values()]
    causes.append(row.cleanup_problem)
    return one_line(next((cause for cause in causes if cause), ""))


def _attempt_lines(
    source: ReportInput, row: Row, outcomes: tuple[Outcome, ...], claimed: frozenset[int]
) -> tuple[AttemptLine, ...]:
    counted = source.counted.get(CellId(row.cell))
    lines = [_attempt_line(source, outcome, counted=outcome.attempt == counted) for outcome in outcomes]
    silent = claimed - {outcome.attempt for outcome in outcomes}
    left = source.left.get(CellId(row.cell), {})
    lines += [_silent_attempt(number, left.get(number, ())) for number in silent]
    return tuple(sorted(lines, key=lambda line: line.attempt))


def _attempt_line(source: ReportInput, outcome: Outcome, *, counted: bool) -> AttemptLine:
    return AttemptLine(
        attempt=outcome.attempt,
        counted=counted,
        fault=None if outcome.fault is None else outcome.fault.kind,
        detail="" if outcome.fault is None else one_line(outcome.fault.detail),
        host=one_line(outcome.host, most=80),
        started_at=outcome.started_at,
        ended_at=outcome.ended_at,
        late=outcome.late,
        cost_usd=outcome.cost_usd,
        record=_below(source, outcome_key(source.sweep, outcome.cell, outcome.attempt)),
        artifacts=(*outcome.artifacts, *source.left.get(outcome.cell, {}).get(outcome.attempt, ())),
    )


def _silent_attempt(number: int, left: tuple[Artifact, ...]) -> AttemptLine:
    return AttemptLine(
        attempt=number,
        counted=False,
        fault=None,
        detail="claimed, and no outcome was ever recorded",
        host=None,
        started_at=None,
        ended_at=None,
        record=None,
        artifacts=left,
    )


def _provenance(source: ReportInput, alike: Sequence[Contamination]) -> Provenance:
    outcomes = [outcome for found in source.outcomes.values() for outcome in found]
    facts = Counter(canonical_json(outcome.evidence.sandbox) for outcome in outcomes if outcome.evidence)
    by_text = {
        canonical_json(outcome.evidence.sandbox): outcome.evidence.sandbox for outcome in outcomes if outcome.evidence
    }
    sandboxes = tuple(SandboxFacts(facts=by_text[text], attempts=count) for text, count in sorted(facts.items()))
    return Provenance(
        plan=source.plan.digest,
        opening=Digest.of(canonical_json(source.opening)),
        settlement=Digest.of(canonical_json(source.settlement)),
        farm_version=source.plan.farm_version,
        edition=source.opening.edition,
        submitted_by=one_line(source.opening.submitted_by, most=120),
        sandbox=source.plan.sandbox,
        sandboxes=sandboxes,
        warnings=(*_warnings(source, sandboxes), *_alarms(alike)),
        hosts=tuple(sorted({one_line(outcome.host, most=80) for outcome in outcomes})),
        opened_at=source.opening.opened_at,
        closed_at=source.close.closed_at,
        settled_at=source.settlement.settled_at,
        close=source.close.reason,
        close_detail=one_line(source.close.detail),
        workers_settled=source.settlement.workers_settled,
        cleanup_complete=source.cleanup.complete,
        cleanup_problems=tuple(one_line(problem) for problem in source.cleanup.problems),
        preregistration=source.plan.preregistration,
    )


def _alarms(alike: Sequence[Contamination]) -> Iterator[str]:
    yield from (found.sentence for found in alike[:_MOST_ALARMS])
    if len(alike) > _MOST_ALARMS:
        yield f"And {len(alike) - _MOST_ALARMS} more groups of cells left the same change; report.json names them."


def _warnings(source: ReportInput, sandboxes: tuple[SandboxFacts, ...]) -> tuple[str, ...]:
    open_ones = {str(found.facts.get("backend")) for found in sandboxes if found.facts.get("containment") == "none"}
    warnings = [
        f"Sandbox {name}: nothing contained the sessions, so these numbers prove nothing." for name in sorted(open_ones)
    ]
    unserved = sum(row.fault is not None and row.fault.owner is Owner.PROVIDER for row in source.table.rows)
    if unserved:
        warnings.append(
            f"{unserved} of {len(source.table.rows)} cells have no measurement because their provider did not answer: "
            "what a gate misses in them says nothing of the arms."
        )
    if not source.settlement.workers_settled:
        warnings.append("Some workers had not ended when the sweep was settled; what they wrote later is not counted.")
    if not source.cleanup.complete:
        warnings.append("The clean-up is incomplete; see provenance.")
    return (*ending_warnings(source), *warnings, *budget_warnings(source), *taken_over_notes(source))
