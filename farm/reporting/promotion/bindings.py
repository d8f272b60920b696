"""What a promotion is bound to, from the plan and the blobs that it pins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from farm.gates.pairs import ArmPair
from farm.gates.promotion.policy import ImplementationPolicy, Policy
from farm.gates.promotion.record import Binding, Bindings, ImplementationRules, ReviewRules
from farm.gates.promotion.review import METRIC
from farm.model import Arm, CandidateOrigin, Digest, EvolutionPin, Plan, Task, Value, canonical_json
from farm.reporting.promotion.files import oracle_files, target_bases
from farm.reporting.rows.case import ReadBlob


@dataclass(frozen=True, slots=True)
class Asked:
    """What the gate was asked by the plan, and the model that it saw."""

    plan: Plan
    policy: Policy
    pairs: tuple[ArmPair, ...]
    model: str | None


def bindings_of(asked: Asked, read: ReadBlob) -> Bindings:
    """Say what a promotion by this plan is bound to; raise SpecError where a candidate brings a file that is new."""
    candidates = [asked.plan.arm_by_name[pair.candidate] for pair in asked.pairs]
    step = asked.plan.evolution
    return Bindings(
        benchmark_model=asked.model,
        proposer_model=None if step is None else step.proposer_model,
        effort=_one(arm.agent.options.get("effort") for arm in candidates),
        candidate_origin=CandidateOrigin.MANUAL if step is None else step.origin,
        candidate_overlay_digest=overlay_digest(candidates),
        target_base_digests=target_bases(asked.plan, asked.pairs, read) if step is None else _bases(step),
        required_candidate_arms=tuple(pair.candidate for pair in asked.pairs),
        selected_tasks=tuple(_binding(task, read) for task in asked.plan.tasks),
        policy={pair.candidate: _rules(asked.policy) for pair in asked.pairs},
    )


def _bases(step: EvolutionPin) -> dict[str, Digest]:
    return {target.path: target.base for target in step.targets}


def overlay_digest(candidates: Sequence[Arm]) -> Digest:
    """Digest the one overlay that all candidates have; where they differ, all of them by their arms."""
    overlays = {arm.name: _plain(arm.overlay) for arm in candidates}
    digests = {Digest.of(canonical_json(overlay)) for overlay in overlays.values()}
    return digests.pop() if len(digests) == 1 else Digest.of(canonical_json(overlays))


def _plain(value: Value | None) -> JsonValue:
    return None if value is None else value.model_dump(mode="json")


def _one(options: Iterable[JsonValue]) -> str | None:
    texts = {option for option in options if isinstance(option, str)}
    return texts.pop() if len(texts) == 1 else None


def _rules(policy: Policy) -> ImplementationRules | ReviewRules:
    if isinstance(policy, ImplementationPolicy):
        return ImplementationRules(
            metric=policy.metric,
            min_runs=policy.min_runs,
            min_improvement_pct=policy.min_improvement_pct,
            max_task_regression_pct=policy.max_task_regression_pct,
        )
    return ReviewRules(
        metric=METRIC, min_runs=policy.min_runs, min_improvement=policy.min_improvement, tolerance=policy.tolerance
    )


def _binding(task: Task, read: ReadBlob) -> Binding:
    dependencies = [_plain(one) for one in task.dependencies]
    files = oracle_files(task, read)
    return Binding(
        id=task.id,
        label=task.label,
        repo_identity=str(task.snapshot.tree),
        ref=None,
        prompt_digest=task.prompt,
        setup_digest=_digest(task.setup),
        verify_digest=_digest(task.verify),
        expensive=task.expensive,
        sandbox_copy=tuple(_plain(one) for one in task.copies),
        sandbox_dependencies=tuple(dependencies),
        sandbox_dependency_content_digest=_all([str(one.files) for one in task.dependencies]),
        sandbox_dependency_manifest_digest=_all(dependencies),
        oracle_digest=Digest.of(canonical_json(task.oracle)),
        oracle_command_digest=_all({"kind": task.oracle.kind, "options": task.oracle.options}),
        oracle_manifest_digest=task.oracle.files or _all([_plain(one) for one in files]),
        oracle_files=files,
        resolved_sha=task.snapshot.commit,
    )


def _digest(part: Value | None) -> Digest | None:
    return None if part is None else Digest.of(canonical_json(part))


def _all(parts: JsonValue) -> Digest:
    return Digest.of(canonical_json(parts))
