"""`promotion.json` of a sealed sweep."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from farm.adapters.memory.store import MemoryStore
from farm.errors import SpecError
from farm.gates.promotion import PromotionGate
from farm.gates.promotion.record import Promotion
from farm.model import (
    ArmRole,
    Digest,
    Evidence,
    OracleFinding,
    OracleSpec,
    Overlay,
    PilotSize,
    Pin,
    Plan,
    Preregistration,
    ScopeFinding,
    Snapshot,
    canonical_json,
)
from farm.planning import tar
from farm.reporting.promotion import objections, promotion_of
from tests.builders.exported import settled
from tests.builders.gates import OFF, ON, a_plan, a_session, an_arm
from tests.builders.sealed import OPENED

SKILL = ".claude/skills/work/SKILL.md"
SEAL = Digest.of(b"seal")
NOW = OPENED + timedelta(days=1)


def packed(files: Mapping[str, bytes]) -> bytes:
    entries = {name: tar.Entry(name, tar.EntryKind.FILE, len(body)) for name, body in files.items()}
    return b"".join(tar.write([tar.Content(entries[name], body) for name, body in files.items()]))


BASE, CHANGED = packed({SKILL: b"old", "other.md": b"same"}), packed({SKILL: b"new", "other.md": b"same"})
HIDDEN = packed({"tests/hidden.py": b"assert True"})
TREE = packed({SKILL: b"oldest", "main.py": b"pass"})
ALONE, NEW = packed({SKILL: b"new"}), packed({"new.md": b"new"})
PLUGIN = packed({"a.md": b"12", "b.md": b"345"})
BLOBS = (BASE, CHANGED, HIDDEN, TREE, ALONE, NEW, PLUGIN)


def the_plan(gates: tuple[Pin, ...] | None = None, before: bytes | None = BASE, after: bytes = CHANGED) -> Plan:
    gate = PromotionGate()
    pin = Pin(name=gate.name, version=gate.version, options=gate.policy({}, ("fix",)))
    plan = a_plan(("fix",), trials=3, gates=(pin,) if gates is None else gates)
    task = plan.tasks[0].model_copy(
        update={
            "label": "cross-module",
            "snapshot": Snapshot(commit="a" * 40, tree=Digest.of(TREE), size_bytes=len(TREE)),
            "oracle": OracleSpec(kind="command", files=Digest.of(HIDDEN)),
        }
    )
    off, on = plan.arms
    overlays = (None if before is None else Overlay(files=Digest.of(before)), Overlay(files=Digest.of(after)))
    options = {"model": "model-a", "effort": "high"}
    arms = [
        arm.model_copy(update={"overlay": overlay, "agent": Pin(name="scripted", version="1", options=options)})
        for arm, overlay in zip((off, on), overlays, strict=True)
    ]
    return Plan.model_validate(plan.model_dump() | {"tasks": (task,), "arms": tuple(arms)})


def evidence(plan: Plan, cost: str) -> Evidence:
    return Evidence(
        lock=plan.lock(plan.cells[0]),
        sandbox={},
        workspace_before=Digest.of(b"before"),
        workspace_after=Digest.of(b"after"),
        sessions=(a_session(cost_usd=Decimal(cost)),),
        oracle=OracleFinding(correct=True),
        scope=ScopeFinding(),
    )


def the_record(plan: Plan | None = None, store: MemoryStore | None = None, on: str = "0.90") -> Promotion:
    plan, store = plan or the_plan(), store or MemoryStore()
    costs = {OFF: "1.00", ON: on}
    attempts = {cell: {"evidence": evidence(plan, costs[cell.arm])} for cell in plan.cells}
    report = settled(store, plan, attempts, BLOBS)
    return promotion_of(report, SEAL, store.blobs.get)


def document_of(record: Promotion) -> Any:
    return record.model_dump(mode="json", by_alias=True)


def test_a_sealed_sweep_gives_the_benchmarks_record_with_all_that_it_rests_on() -> None:
    plan = the_plan()
    document = document_of(the_record(plan))

    assert (document["schema_version"], document["run_status"]) == (6, "complete")
    assert (document["benchmark_model"], document["effort"], document["candidate_origin"]) == (
        "model-a",
        "high",
        "manual-initial-overlay",
    )
    assert document["target_base_digests"] == {SKILL: Digest.of(b"old")}
    assert document["candidate_overlay"] == f"blobs/sha256/{Digest.of(CHANGED)[:2]}/{Digest.of(CHANGED)}"
    assert document["policy"] == {
        ON: {"metric": "cost_usd", "min_runs": 3, "min_improvement_pct": 5.0, "max_task_regression_pct": 20.0}
    }
    (task,) = document["selected_tasks"]
    assert (task["id"], task["class"], task["resolved_sha"]) == ("fix", "cross-module", "a" * 40)
    hidden = {"target": "tests/hidden.py", "sha256": Digest.of(b"assert True"), "size": 11}
    assert (task["oracle_files"], task["oracle_manifest_digest"]) == ([hidden], Digest.of(HIDDEN))
    (decision,) = document["decisions"]
    assert (decision["decision"], decision["candidate_arm"], decision["median_improvement_pct"]) == ("promote", ON, 10)
    assert (document["farm"]["plan"], document["farm"]["seal"]) == (plan.digest, SEAL)
    assert document["farm"]["gate"]["options"]["least_margin"] == 2


def test_it_lives_for_ninety_days() -> None:
    record = the_record()
    document = document_of(record)

    assert record.evidence_expires_at - record.generated_at == timedelta(days=90)
    assert list(objections(document, record, record.evidence_expires_at)) == []
    late = list(objections(document, record, record.evidence_expires_at + timedelta(seconds=1)))
    assert [one.partition(":")[0] for one in late] == ["evidence-expired"]


def test_nothing_stands_against_what_the_records_themselves_give() -> None:
    record = the_record()

    assert list(objections(document_of(record), record, NOW)) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"benchmark_model": "model-b"}, "model-differs: benchmark_model: 'model-b' in the record, 'model-a' found"),
        ({"target_base_digests": {}}, "target-bases-differ"),
        ({"farm": None}, "promotion.farm: None in the record"),
        ({"schema_version": 5}, "schema-version"),
        ({"candidate_overlay": "elsewhere"}, "promotion.candidate_overlay: 'elsewhere' in the record"),
    ],
)
def test_what_somebody_altered_is_named(change: dict[str, Any], said: str) -> None:
    record = the_record()
    found = list(objections({**document_of(record), **change}, record, NOW))

    assert any(one.startswith(said) for one in found), found


def test_an_altered_number_is_seen_even_where_the_decision_still_follows() -> None:
    """Whoever alters the evidence and decides again has a record that agrees with itself, not with the sweep."""
    honest, cheaper = the_record(), document_of(the_record(on="0.80"))
    forged = {**document_of(honest), "decisions": cheaper["decisions"]}

    found = list(objections(forged, honest, NOW))
    assert found
    assert all(one.startswith("promotion.decisions.0") for one in found)


def test_a_decision_to_keep_may_not_be_applied() -> None:
    record = the_record(on="1.00")

    found = list(objections(document_of(record), record, NOW))
    assert found == [
        "verdict-not-pass: the sweep's verdict is fail",
        f"decision-not-promote: {ON}: the decision is keep_incumbent",
    ]


def test_what_a_pilot_finds_may_not_be_applied() -> None:
    plan = the_plan()
    pilot = Preregistration(pilot=PilotSize(tasks=1, of_tasks=4, trials=3, of_trials=3))
    record = the_record(Plan.model_validate(plan.model_dump() | {"preregistration": pilot}))

    assert list(objections(document_of(record), record, NOW)) == [
        "verdict-not-pass: the sweep's verdict is inconclusive"
    ]
    assert record.farm is not None
    assert record.farm.preregistration == pilot


def test_71_a_file_that_is_new_has_no_base_and_is_refused_with_words() -> None:
    with pytest.raises(SpecError, match=r"overlay brings 'new.md', which does not stand before it"):
        the_record(the_plan(after=NEW))


def test_a_base_that_no_overlay_holds_is_the_snapshots() -> None:
    record = the_record(the_plan(before=None, after=ALONE))

    assert record.target_base_digests == {SKILL: Digest.of(b"oldest")}


def test_a_sweep_without_the_gate_has_no_record() -> None:
    with pytest.raises(SpecError, match="has no gate promotion"):
        the_record(the_plan(gates=()))


def test_what_a_task_does_not_bring_has_the_digest_of_nothing() -> None:
    plan = the_plan()
    task = plan.tasks[0].model_copy(update={"oracle": OracleSpec(kind="answer", options={"equals": 1})})
    (bound,) = the_record(Plan.model_validate(plan.model_dump() | {"tasks": (task,)})).selected_tasks

    assert bound.sandbox_dependency_content_digest == Digest.of(canonical_json([]))
    (check,) = bound.oracle_files
    assert (check.target, check.sha256) == ("oracle.json", Digest.of(canonical_json(task.oracle)))


def test_the_comparators_plugin_is_described() -> None:
    plan = the_plan()
    other = an_arm("ce", ArmRole.COMPARATOR).model_copy(
        update={"assets": {"ce": Digest.of(PLUGIN)}, "plugins": {"ce": "2.31.0"}}
    )
    plugin = the_record(Plan.model_validate(plan.model_dump() | {"arms": (*plan.arms, other)})).ce_plugin

    assert plugin is not None
    assert (plugin.name, plugin.version, plugin.file_count, plugin.total_bytes) == ("ce", "2.31.0", 2, 5)
    assert plugin.manifest_digest == Digest.of(PLUGIN)
