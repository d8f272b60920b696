"""The reliability benchmark's own examples through the whole gate, and its failure cases that a table can show."""

import json
from pathlib import Path
from typing import Any

import pytest

from farm.gates.protocol import Basis, Judgement
from farm.gates.reliability import ReliabilityGate
from farm.gates.reliability.told import EffectTold, Findings
from farm.gates.reliability.trial import Part
from farm.model import Decision, Digest, PilotSize, Pin, Preregistration, sweep_id
from tests.builders.live_histories import REGISTERED
from tests.builders.reliability_rows import Letters, a_lettered_table

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[3] / "data/reliability-vectors.json").read_text())
RUNS = [vector for vector in VECTORS if vector["kind"] == "verdict_from_runs"]
GATE = ReliabilityGate()
POLICY = GATE.policy({}, ())
QUICK = GATE.policy({"replicates": 200}, ())
DECISIONS = {"PROVEN": Decision.PASS, "HARMFUL": Decision.FAIL, "INCONCLUSIVE": Decision.INCONCLUSIVE}
SOLVED, UNSOLVED = "sssss", "uuuuu"
CLEAN = [SOLVED] * 16 + [UNSOLVED] * 4


def letters(baseline: list[str] = CLEAN, model: list[str] = CLEAN, reference: list[str] = CLEAN) -> Letters:
    return {"baseline": baseline, "model": model, "reference": reference}


def judged(given: Letters, policy: dict[str, Any] = QUICK) -> Judgement:
    return GATE.judge(a_lettered_table(given, REGISTERED), policy)


def told(found: Judgement) -> Findings:
    return Findings.model_validate(found.findings)


def bounds(found: EffectTold | None) -> list[float]:
    assert found is not None
    return [found.estimate, found.low, found.high]


@pytest.mark.parametrize("vector", RUNS, ids=[vector["id"] for vector in RUNS])
def test_a_table_of_an_examples_runs_is_judged_as_the_benchmark_says(vector: dict[str, Any]) -> None:
    given, expected = vector["input"], vector["expected"]
    source = REGISTERED.source
    assert source is not None
    changes = {"is_clean": given["trackedTreeClean"]} | ({} if given["publishedAtUpstream"] else {"upstream": None})
    registered = REGISTERED.model_copy(update={"source": source.model_copy(update=changes)})
    found = GATE.judge(a_lettered_table(given["cells"], registered), POLICY)
    findings = told(found)

    assert (found.decision, findings.ruling) == (DECISIONS[expected["verdict"]], expected["verdict"])
    assert findings.authorship == expected["contractAuthorshipFinding"]
    assert findings.relative_reduction == pytest.approx(expected["falseSuccessReduction"], abs=1e-9)
    assert findings.weighted_false_rejection_cost == pytest.approx(expected["weightedFalseRejectionCost"], abs=1e-9)
    effects = findings.effects
    assert bounds(effects.benefit) == pytest.approx(expected["falseSuccessBenefit95"], abs=1e-9)
    assert bounds(effects.success) == pytest.approx(expected["oracleSuccessDifference95"], abs=1e-9)
    assert bounds(effects.rejection_penalty) == pytest.approx(expected["falseRejectionPenalty95"], abs=1e-9)
    penalty = expected["terminalFalseRejectionPenalty95"]
    assert bounds(effects.terminal_rejection_penalty) == pytest.approx(penalty, abs=1e-9)
    assert (effects.mcnemar.baseline_only, effects.mcnemar.model_only) == (
        expected["mcnemar"]["leftOnly"],
        expected["mcnemar"]["rightOnly"],
    )
    assert effects.sign_flip.nonzero == expected["signFlipNonzeroTasks"]
    for part in Part:
        counts, summary = expected["counts"][part.value], findings.parts[part]
        assert {
            "runs": summary.runs,
            "oracle": summary.oracle_passed.count,
            "fs": summary.false_success.count,
            "fcert": summary.false_certifications,
            "fe": summary.false_exhaustion.count,
            "fa": summary.false_abstention.count,
            "fr": summary.false_rejection.count,
            "adopt": summary.adoption.count,
        } == counts


def test_a_pilot_that_would_be_proven_is_inconclusive_and_one_that_harms_fails() -> None:
    pilot = PilotSize(tasks=2, of_tasks=20, trials=5, of_trials=5)
    registered = Preregistration(pilot=pilot)
    policy = GATE.policy({"replicates": 200, "tasks": 2}, ())
    basis = Basis(
        sweep=sweep_id("live", Digest.of(b"plan"), 1),
        settlement=Digest.of(b"settlement"),
        cleanup=Digest.of(b"cleanup"),
        preregistration=registered,
    )

    def decision(model: list[str]) -> Decision:
        table = a_lettered_table(letters(["fffff"] * 2, model, [SOLVED] * 2), registered)
        pin = Pin(name="reliability", version="1", options=policy)
        return basis.verdict(pin, GATE.judge(table, policy)).decision

    assert decision([SOLVED] * 2) is Decision.INCONCLUSIVE
    assert decision(["csssc", SOLVED]) is Decision.FAIL


def test_one_discordant_run_is_no_evidence() -> None:
    effects = told(judged(letters(baseline=["fssss", *CLEAN[1:]]))).effects
    assert (effects.mcnemar.p_value, effects.sign_flip.p_value) == (1, 1)


def test_one_task_up_and_one_down_leave_an_interval_around_nothing() -> None:
    found = told(judged(letters(baseline=["fssss", *CLEAN[1:]], model=[SOLVED, "fssss", *CLEAN[2:]]))).effects.benefit
    assert found is not None
    assert found.estimate == 0
    assert found.low < 0 < found.high


def test_a_forged_proof_of_what_nothing_solves_is_a_false_certification_and_harm() -> None:
    found = judged(letters(reference=[*CLEAN[:19], "cuuuu"]))
    assert found.decision is Decision.FAIL
    (run,) = told(found).false_certifications.runs
    assert run.cell == "future-event-proof.governed-reference-contract.1"


def test_without_any_right_run_the_bounds_of_what_was_rejected_are_open_and_fail() -> None:
    found = judged(letters(model=["aaaaa"] * 20))
    model = told(found).parts[Part.MODEL]
    assert (model.false_exhaustion.of, model.false_exhaustion.high, model.false_abstention.high) == (0, 1, 1)
    failed = {check.name for check in found.checks if not check.holds}
    assert {"false-exhaustion", "false-abstention"} <= failed


def test_runs_are_paired_with_the_baselines_by_task_and_trial() -> None:
    found = told(judged(letters(baseline=["fssss", *CLEAN[1:]], model=[SOLVED, "ussss", *CLEAN[2:]])))
    pairs = found.pairs[Part.MODEL]
    assert (pairs.both_passed, pairs.rescue_candidates, pairs.regression_candidates, pairs.both_failed) == (
        78,
        1,
        1,
        20,
    )


def test_what_went_wrong_in_running_is_told_apart() -> None:
    model = told(judged(letters(model=["tnsss", *CLEAN[1:]]))).parts[Part.MODEL]
    operation = model.operation
    assert (operation.no_contract, operation.nonzero_exit, operation.session_missing) == (22, 1, 0)
    assert model.operational_failures == 1


def test_tasks_whose_runs_agree_and_are_right_are_stable() -> None:
    model = told(judged(letters(model=["sssfs", "rrrrr", *CLEAN[2:]]))).parts[Part.MODEL]
    assert (model.stable_tasks.count, model.stable_tasks.of, model.mixed_tasks) == (18, 20, 1)


def test_contracts_are_judged_alone_among_the_right_runs_that_opened_one() -> None:
    model = told(judged(letters(model=["XAnrs", *CLEAN[1:]]))).parts[Part.MODEL]
    assert (model.false_exhaustion.of, model.adopted_false_exhaustion.of) == (80, 78)
    assert (model.adopted_false_exhaustion.count, model.adopted_false_abstention.count) == (1, 1)
    assert (model.false_rejection.count, model.adopted_false_rejection.count) == (3, 2)


def test_runs_stand_by_claim_and_by_end_beside_the_oracles_word() -> None:
    model = told(judged(letters(model=["XYcfr", *CLEAN[1:]]))).parts[Part.MODEL]
    claims = model.claims
    assert (claims.claimed_passed, claims.claimed_failed, claims.silent_passed, claims.silent_failed) == (76, 2, 2, 20)
    ends = {end.value: (of.oracle_passed, of.oracle_failed) for end, of in model.ends.items()}
    assert ends == {"certified": (75, 1), "exhausted": (2, 0), "abstained": (0, 0), "none": (0, 0)}
