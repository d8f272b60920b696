"""Reviews in a real sandbox: written by a session, scored by labels that no sandbox ever saw."""

import json

from farm.gates.promotion.taxonomy import RowKind, kind_of_fault
from farm.model import OracleSpec, Pin
from farm.plugins import Plugins
from tests.builders.worker.farm import GIVEN
from tests.builders.worker.reviews import a_finding, a_label, a_review
from tests.builders.worker.working import Make, Run
from worker.oracles.review import ReviewOracle

REVIEW = Pin(name="review", version="1")
PLUGINS = Plugins({**GIVEN, "oracles": {"review": ReviewOracle}})
LABELS = OracleSpec(
    kind="review", options={"labels": {"schema_version": 1, "findings": [a_label(category="logic-7f")]}}
)


def test_18_a_review_that_is_written_beside_and_renamed_is_scored(farm: Make, run: Run) -> None:
    body = json.dumps(a_review(a_finding(), verdict="request_changes"))
    writes = f"cd $FARM_OUT/review && printf %s '{body}' >.tmp && mv .tmp review.json"
    searches = "! grep -rqs logic-7[f] /cell /home /tmp $FARM_OUT"
    cell = farm(
        {"run": {"command": searches, "must_succeed": True}},
        {"run": {"command": writes, "must_succeed": True}},
        program=REVIEW,
        plugins=PLUGINS,
        oracle=LABELS,
    )

    run(cell)

    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    assert evidence.sessions[0].problem is None
    assert (evidence.oracle.correct, evidence.oracle.numbers["category_accuracy"]) == (True, 0.0)


def test_19_a_review_that_was_never_written_is_a_fault_of_evidence(farm: Make, run: Run) -> None:
    cell = farm(program=REVIEW, plugins=PLUGINS, oracle=LABELS)

    run(cell)

    fault = cell.outcome().fault
    assert fault is not None
    assert fault.detail == "review-evidence-invalid: session 'review' left no review: it was never written"
    assert kind_of_fault(fault) is RowKind.REVIEW_EVIDENCE_INVALID
