"""Whether a promotion may be applied, case by case of the workflow benchmark, and by the numbers that it holds."""

import copy
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from farm.gates.promotion.acceptance import Today, differences, refusals
from farm.gates.promotion.reading import Reason
from farm.gates.promotion.record import Bindings, Promotion

_FILE = Path(__file__).parents[3] / "data/promotion-apply-vectors.json"
DATA: dict[str, Any] = json.loads(_FILE.read_text())
BASES: dict[str, Any] = DATA["bases"]
VECTORS: list[dict[str, Any]] = DATA["vectors"]
NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
INCUMBENTS = {
    "candidate_workflow": "workflow",
    "candidate_workflow_direct": "workflow_direct",
    "candidate_review": "review",
}
OURS = {
    "model_differ": Reason.MODEL,
    "proposer_model_differ": Reason.PROPOSER,
    "effort_differ": Reason.EFFORT,
    "candidate_origin_differ": Reason.ORIGIN,
    "overlay_digest_differ": Reason.OVERLAY,
    "policy_differ": Reason.POLICY,
}
"""The benchmark's names where ours are others; else they differ by the dash."""
UNREADABLE = {"task-binding-malformed", "candidate-arms-malformed"}
"""What can't be read as a record is told alone."""


def patched(base: dict[str, Any], patch: list[dict[str, Any]]) -> dict[str, Any]:
    """Apply a JSON patch of add, replace and remove."""
    document = copy.deepcopy(base)
    for step in patch:
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:]]
        inside: Any = document
        for part in path:
            inside = inside[int(part)] if isinstance(inside, list) else inside[part]
        if isinstance(inside, list):
            put_into_list(inside, last, step)
        elif step["op"] == "remove":
            del inside[last]
        else:
            inside[last] = step["value"]
    return document


def put_into_list(inside: list[Any], last: str, step: dict[str, Any]) -> None:
    if step["op"] == "remove":
        del inside[int(last)]
    elif step["op"] == "add":
        inside.insert(len(inside) if last == "-" else int(last), step["value"])
    else:
        inside[int(last)] = step["value"]


def bound(document: dict[str, Any]) -> Bindings:
    return Bindings.model_validate({name: document[name] for name in Bindings.model_fields})


def today(base: str, now: datetime = NOW) -> Today:
    return Today(bound(BASES[base]), INCUMBENTS, now)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_a_promotion_is_refused_for_what_is_wrong_with_it(vector: dict[str, Any]) -> None:
    given, expected = vector["input"], vector["expected"]
    base = BASES[given["base"]]
    document = patched(base, given["patch"])
    is_sound = given["expected_bindings_patch"] != given["patch"] or not given["patch"]
    against = bound(patched(base, given["expected_bindings_patch"]) if is_sound else base)

    found = refusals(document, Today(against, INCUMBENTS, datetime.fromisoformat(given["now"])))

    named = {OURS.get(reason, reason.replace("_", "-")) for reason in expected.get("reasons", ())}
    reasons = {problem.reason.value for problem in found}
    assert reasons == named or (reasons <= named and reasons & UNREADABLE)
    assert (not found) == expected["accepted"]
    assert all(problem.message for problem in found)


def test_all_cases_are_here() -> None:
    assert len(VECTORS) == 46


@pytest.mark.parametrize("base", BASES)
def test_what_the_benchmark_wrote_is_accepted_and_comes_back_the_same(base: str) -> None:
    record = Promotion.model_validate_json(json.dumps(BASES[base]))

    assert refusals(BASES[base], today(base)) == ()
    written = record.model_dump(mode="json", by_alias=True)
    assert {name: written[name] for name in ("policy", "selected_tasks")} == {
        name: BASES[base][name] for name in ("policy", "selected_tasks")
    }
    assert refusals(written, today(base)) == ()


LATER = "2026-09-01T12:05:01+00:00"


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("/run_status", "aborted", Reason.RUN_STATUS),
        ("/generated_at", LATER, Reason.FUTURE),
        ("/evidence_expires_at", "2026-09-01T10:00:00+00:00", Reason.EXPIRY_EARLY),
        ("/generated_at", 5, Reason.NO_ZONE),
        ("/generated_at", "1788220800", Reason.NO_ZONE),
        ("/generated_at", "2026-09-01", Reason.NO_ZONE),
        ("/decisions/0/candidate_arm", "candidate_review", Reason.DECISION_UNRELATED),
        ("/proposer_model", "model-q", Reason.PROPOSER),
        ("/decisions/0/tasks/0/task", "impl-9", Reason.EVIDENCE_TASKS),
        ("/decisions/0/tasks/0/incumbent/resolved", 4, Reason.RESOLVED),
        ("/decisions/0/tasks/0/incumbent/valid_runs", True, Reason.COUNT_MALFORMED),
        ("/decisions/0/tasks/0/incumbent/surprise", 1, Reason.MALFORMED),
        ("/candidate_overlay_digest", "0" * 64, Reason.OVERLAY),
    ],
)
def test_each_condition_has_its_word(path: str, value: Any, reason: Reason) -> None:
    document = patched(BASES["promotion_implementation"], [{"op": "add", "path": path, "value": value}])

    assert reason in {problem.reason for problem in refusals(document, today("promotion_implementation"))}


def test_a_record_without_its_schema_is_none() -> None:
    patch = [{"op": "remove", "path": "/schema_version"}]
    found = refusals(patched(BASES["promotion_review"], patch), today("promotion_review"))

    assert {problem.reason for problem in found} == {Reason.SCHEMA_VERSION}


def test_a_difference_is_named_with_both_values() -> None:
    patch = [{"op": "replace", "path": "/policy/candidate_workflow/min_improvement_pct", "value": 1.0}]
    (problem,) = refusals(patched(BASES["promotion_implementation"], patch), today("promotion_implementation"))

    assert problem.message == "policy.candidate_workflow.min_improvement_pct: 1.0 in the record, 5.0 found"


def test_no_number_of_the_evidence_can_be_moved_unseen() -> None:
    """What a decision is made of is in it twice, or decides; a number that does neither may be what it likes."""
    cost = "/decisions/0/tasks/0/candidate/cost_usd"
    for value in (1.7999, 1.81, 0, None):
        document = patched(BASES["promotion_implementation"], [{"op": "replace", "path": cost, "value": value}])
        found = {problem.reason for problem in refusals(document, today("promotion_implementation"))}

        assert found == {Reason.RECOMPUTED}


def test_five_minutes_ahead_are_another_hosts_clock() -> None:
    ahead = patched(BASES["promotion_review"], [{"op": "replace", "path": "/generated_at", "value": LATER}])

    assert {problem.reason for problem in refusals(ahead, today("promotion_review"))} == {Reason.FUTURE}
    on_time = ahead | {"generated_at": "2026-09-01T12:05:00+00:00"}
    assert refusals(on_time, today("promotion_review")) == ()


def named(*patch: tuple[str, Any]) -> set[Reason]:
    """Name what stands against the benchmark's implementation record with these places put."""
    steps = [{"op": "replace", "path": path, "value": value} for path, value in patch]
    document = patched(BASES["promotion_implementation"], steps)
    return {problem.reason for problem in refusals(document, today("promotion_implementation"))}


ARMS = "/required_candidate_arms"


@pytest.mark.parametrize("arms", [[], ["candidate_workflow", "candidate_workflow"]])
def test_each_candidate_is_named_once(arms: list[str]) -> None:
    assert named((ARMS, arms)) == {Reason.ARMS_MALFORMED, Reason.ARMS}


def test_each_task_is_named_once() -> None:
    tasks = BASES["promotion_implementation"]["selected_tasks"]

    for given in ([], [*tasks, tasks[0]]):
        assert named(("/selected_tasks", given)) >= {Reason.TASK_MALFORMED, Reason.TASKS}


def test_evidence_expires_after_its_last_moment() -> None:
    last = datetime.fromisoformat(BASES["promotion_review"]["evidence_expires_at"])

    assert refusals(BASES["promotion_review"], today("promotion_review", last)) == ()


@pytest.mark.parametrize(
    ("gated", "is_enough"), [((), False), ((0,), False), ((0, 1), True)], ids=["none", "one of three", "two of three"]
)
def test_at_least_half_of_the_tasks_must_be_gated(gated: tuple[int, ...], *, is_enough: bool) -> None:
    flags = [(f"/decisions/0/tasks/{number}/gated", number in gated) for number in range(3)]

    assert (Reason.FEW_GATED not in named(*flags)) is is_enough


def test_half_of_the_tasks_is_enough() -> None:
    tasks = BASES["promotion_implementation"]["decisions"][0]["tasks"]
    four = [*tasks, tasks[2] | {"task": "impl-4"}]

    assert Reason.FEW_GATED not in named(("/decisions/0/tasks", four))


def test_differences_are_named_by_their_places_the_first_ten() -> None:
    many = {f"number-{number:02}": number for number in range(12)}

    assert differences({"a": {"b": 1}}, {"a": None}, "it") == ["it.a: {'b': 1} in the record, None found"]
    assert differences([1, 2], [1], "it") == ["it: [1, 2] in the record, [1] found"]
    assert differences({"a": True}, {"a": 1}, "it") == ["it.a: True in the record, 1 found"]
    assert len(differences(many, {}, "it")) == 10


@pytest.mark.parametrize(("path", "value"), [("tasks/2/gated", False), ("ungated_tasks", ["rev-clean"])])
def test_every_case_of_a_review_decides(path: str, value: Any) -> None:
    document = patched(BASES["promotion_review"], [{"op": "replace", "path": f"/decisions/0/{path}", "value": value}])

    assert Reason.REVIEW_UNGATED in {problem.reason for problem in refusals(document, today("promotion_review"))}
