"""The record of a sealed sweep, and what stands against one that somebody brings."""

from collections.abc import Iterator
from datetime import datetime

from pydantic import JsonValue, TypeAdapter

from farm.errors import SpecError
from farm.gates.pairs import pairs_by_role
from farm.gates.promotion import PromotionGate
from farm.gates.promotion.acceptance import Today, differences, refusals
from farm.gates.promotion.policy import read_policy
from farm.gates.promotion.record import LIFE, AnyDecision, Bindings, Promotion, RunStatus, Sealed
from farm.model import CloseReason, Digest, Verdict
from farm.model.keys import blob_key
from farm.reporting.promotion.bindings import Asked, bindings_of
from farm.reporting.promotion.files import plugin_of
from farm.reporting.report_input import ReportInput
from farm.reporting.rows.case import ReadBlob

_DECISIONS: TypeAdapter[tuple[AnyDecision, ...]] = TypeAdapter(tuple[AnyDecision, ...])


def promotion_of(report: ReportInput, seal: Digest, read: ReadBlob) -> Promotion:
    """Make the record; raise SpecError where the sweep has no verdict of a promotion, or one that could be of none."""
    verdict = _verdict(report)
    asked = _asked(report, verdict)
    bindings = bindings_of(asked, read)
    overlays = {report.plan.arm_by_name[pair.candidate].overlay for pair in asked.pairs}
    files = {overlay.files for overlay in overlays if overlay is not None and overlay.files is not None}
    return Promotion(
        **{name: getattr(bindings, name) for name in Bindings.model_fields},
        schema_version=6,
        run_status=RunStatus.COMPLETE if report.close.reason is CloseReason.COMPLETE else RunStatus.ABORTED,
        generated_at=report.settlement.settled_at,
        evidence_expires_at=report.settlement.settled_at + LIFE,
        candidate_overlay=blob_key(files.pop()) if len(files) == 1 else None,
        ce_plugin=plugin_of(report.plan, read),
        decisions=_DECISIONS.validate_python(verdict.findings["decisions"]),
        farm=Sealed(
            sweep=report.sweep,
            plan=report.plan.digest,
            settlement=verdict.settlement,
            cleanup=verdict.cleanup,
            seal=seal,
            gate=verdict.gate,
            verdict=verdict.decision,
            preregistration=verdict.preregistration,
        ),
    )


def objections(document: JsonValue, record: Promotion, now: datetime) -> Iterator[str]:
    """Say what stands against applying `document`, where `record` is what the same sweep's records give."""
    incumbents = {one.candidate_arm: one.incumbent_arm for one in record.decisions}
    for problem in refusals(document, Today(record, incumbents, now)):
        yield f"{problem.reason}: {problem.message}"
    yield from differences(document, record.model_dump(mode="json", by_alias=True), "promotion")


def _verdict(report: ReportInput) -> Verdict:
    found = next((one for one in report.verdicts if one.gate.name == PromotionGate.name), None)
    if found is None:
        raise SpecError(f"{report.sweep} has no gate promotion; name it under `gates:` in its file, and run that sweep")
    if "decisions" not in found.findings:
        raise SpecError(f"{report.sweep} has no decision on a candidate: {found.summary}")
    return found


def _asked(report: ReportInput, verdict: Verdict) -> Asked:
    policy = read_policy(verdict.gate.options)
    model = verdict.findings["model"]
    return Asked(
        plan=report.plan,
        policy=policy,
        pairs=policy.pairs or pairs_by_role(report.plan),
        model=model if isinstance(model, str) else None,
    )
