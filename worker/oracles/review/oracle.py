"""The oracle itself: options in, a finding out."""

from collections.abc import Sequence
from typing import Literal, assert_never

from pydantic import JsonValue

from farm.model import ExitReason, OracleFinding, SessionReport, Value
from worker.options import checked
from worker.oracles.review.document import Labels, ReviewError, read_review
from worker.oracles.review.pairing import Pairing, largest, weighted_optimal
from worker.oracles.review.scoring import score
from worker.phases import PhaseError
from worker.session import ArtifactError, OracleRequest

ARTIFACT = "review"
"""The role of what the session wrote."""
_FAULT = "review-evidence-invalid"
_MOST_TOLD = 500
_WENT_WELL = {
    ExitReason.SUCCESS,
    ExitReason.BLANK_ANSWER,
    ExitReason.SKILL_NOT_INVOKED,
    ExitReason.SKILL_UNVERIFIED,
}


class ReviewOptions(Value):
    """What there is to be found. It stays on the host: no sandbox ever sees it."""

    labels: Labels
    matching: Literal["largest", "weighted-optimal"] = "largest"


class ReviewOracle:
    """Scores the review that a session wrote as its artifact; a review that is none is evidence of nothing.

    It needs no sandbox. Where a session did not end well the missing review follows from that, and is a problem of the
    finding; else it is an evidence fault, and never a wrong answer.
    """

    version = "1"

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(ReviewOptions, options, "oracle 'review'")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json")

    def find(self, request: OracleRequest) -> OracleFinding:
        """Score the review; raise PhaseError for one that is not there as it must be."""
        try:
            review = read_review(request.artifact(ARTIFACT))
        except ArtifactError as error:
            return self._without(request.sessions, str(error.problem))
        except ReviewError as error:
            return self._without(request.sessions, str(error))
        labels = self._options.labels.findings
        found = score(review, labels, self._pairing(review.findings, labels))
        return OracleFinding(
            correct=found.is_resolved,
            answer_error=None if found.is_resolved else "the review is not what the labels ask for",
            numbers=found.numbers(),
        )

    @property
    def _pairing(self) -> Pairing:
        match self._options.matching:
            case "largest":
                return largest
            case "weighted-optimal":
                return weighted_optimal
            case _:
                assert_never(self._options.matching)

    def _without(self, sessions: Sequence[SessionReport], problem: str) -> OracleFinding:
        told = problem.encode(errors="backslashreplace").decode()[:_MOST_TOLD]
        failed = next((session for session in sessions if session.reason not in _WENT_WELL), None)
        if failed is None:
            raise PhaseError(_FAULT, sessions[-1].name if sessions else "", f"left no review: {told}")
        return OracleFinding(correct=None, problem=f"no review, since session {failed.name!r} failed: {told}")
