"""Where a row comes from: the plan, the host, the records. Every row says so, whatever became of its cell."""

from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from farm.gates.promotion.taxonomy import STANDINGS, primary_kind
from farm.model import Arm, ArmRole, Digest, Evidence, Task, canonical_json, known_sum
from farm.reporting.rows.case import Case
from farm.reporting.rows.fields import Ours, Provenance

_BACKENDS = {"bubblewrap": "bwrap", "unsafe-host": "host-unsafe"}


def provenance(case: Case) -> Provenance:
    """Say by which inputs the row was measured."""
    task, arm, counted = case.task, case.arm, case.counted
    model, plugin = _model(case), _only(arm.plugins)
    origin = None if counted is None else counted.origin
    return Provenance(
        model=model,
        benchmark_model=model,
        effort=_text(arm.agent.options.get("effort")),
        task_base_sha=task.snapshot.commit,
        task_prompt_digest=task.prompt,
        skill_digest=_skills(arm),
        candidate_overlay_digest=_overlay(arm),
        oracle_digest=Digest.of(canonical_json(task.oracle)),
        oracle_command_digest=_command(task),
        oracle_manifest_digest=task.oracle.files,
        task_asset_snapshot_digest=_all(str(one.files) for one in task.copies),
        task_asset_manifest_digest=_all(one.model_dump(mode="json") for one in task.copies),
        sandbox_dependency_content_digest=_all(str(one.files) for one in task.dependencies),
        sandbox_dependency_manifest_digest=_all(one.model_dump(mode="json") for one in task.dependencies),
        ce_plugin_version=arm.plugins[plugin] if plugin is not None else None,
        ce_plugin_manifest_digest=arm.assets[plugin] if plugin is not None else None,
        sandbox_backend=_BACKENDS.get(case.report.plan.sandbox, case.report.plan.sandbox),
        recorded_at=case.report.settlement.settled_at if counted is None else counted.ended_at,
        reused=case.row.reused,
        reused_from_recorded_at=None if origin is None else origin.measured_at,
    )


def _model(case: Case) -> str | None:
    """Give the model that the arm pins, else the one that every session names."""
    pinned = _text(case.arm.agent.options.get("model"))
    named = {session.model for session in case.row.sessions}
    return pinned if pinned is not None or len(named) != 1 else named.pop()


def _text(option: JsonValue) -> str | None:
    return option if isinstance(option, str) else None


def _skills(arm: Arm) -> Digest | None:
    skills: dict[str, JsonValue] = {name: str(digest) for name, digest in arm.assets.items() if name not in arm.plugins}
    return Digest.of(canonical_json(skills)) if skills else None


def _only(plugins: Mapping[str, str]) -> str | None:
    """Name the arm's plug-in; None where there is none, or no single one."""
    return next(iter(plugins)) if len(plugins) == 1 else None


def _all(parts: Iterable[JsonValue]) -> Digest | None:
    listed = list(parts)
    return Digest.of(canonical_json(listed)) if listed else None


def _overlay(arm: Arm) -> Digest | None:
    return Digest.of(canonical_json(arm.overlay)) if arm.overlay is not None and arm.role is ArmRole.CANDIDATE else None


def _command(task: Task) -> Digest:
    return Digest.of(canonical_json({"kind": task.oracle.kind, "options": task.oracle.options}))


def ours(case: Case) -> Ours:
    """Give what the benchmark has no name for."""
    row, counted, standing = case.row, case.counted, STANDINGS[case.kind]
    evidence: Evidence | None = None if counted is None else counted.evidence
    cost = known_sum(outcome.cost_usd for outcome in case.outcomes)
    return Ours(
        sweep=case.report.sweep,
        plan=case.report.plan.digest,
        farm_version=case.report.plan.farm_version,
        cell=case.cell.id,
        role=case.arm.role,
        trial=case.cell.trial,
        lock=case.report.plan.lock(case.cell),
        attempt=None if counted is None else counted.attempt,
        attempts=row.attempts,
        host=None if counted is None else counted.host,
        primary_kind=None if row.unsettled is not None else primary_kind(row),
        is_valid=standing.is_valid,
        streak=standing.streak,
        health=standing.health,
        is_reusable=standing.is_reusable,
        is_shown=standing.is_shown,
        fault=None if row.fault is None else row.fault.kind,
        unsettled=row.unsettled,
        spent_usd=None if cost is None else float(cost),
        workspace_before=None if evidence is None else evidence.workspace_before,
        workspace_after=None if evidence is None else evidence.workspace_after,
        scope=row.scope,
        metrics=row.metrics,
        artifacts=case.artifacts,
    )
