"""One session under a contract: at each stop of the agent its checks run, and what failed is its next turn."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints

from farm.model import Name, SessionReport, Value
from worker.governor.contract import MOST_ATTEMPTS, MOST_CONTRACT_BYTES, Bounds
from worker.governor.governing import MOST_REFUSALS, Governor, Terms
from worker.governor.reference import ORACLE, REFERENCE_ATTEMPTS, forbidden_path, reference_contract
from worker.governor.telling import CONTRACT, FOLDER, model_opening, reference_opening
from worker.options import checked
from worker.phases import ArtifactPlace, Demand, Phase
from worker.programs.outcome import framed
from worker.session import Sessions

SESSION = "work"
_DEMAND = Demand(lasting=True)
_PLACE = ArtifactPlace("contract", FOLDER, CONTRACT, "application/json", MOST_CONTRACT_BYTES)

Word = Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class GovernedOptions(Value):
    """Whose contract it is, and its bounds."""

    contract: Literal["model", "reference"] = "model"
    """Written by the agent, or made from the task's oracle, which is `files`, and told word for word."""
    attempts: Annotated[int, Field(ge=1, le=MOST_ATTEMPTS)] = 3
    """The budget of a contract that states none, and the most that one may state; a reference has its own of 3."""
    sources: Annotated[int, Field(ge=1, le=10)] = 1
    """Independent ones, of a claim that states none."""
    verifiers: Annotated[dict[Name, Annotated[tuple[Word, ...], Field(min_length=1)]], Field(max_length=20)] = {}
    """Commands that a contract's `code_verification_succeeded` may name; each runs in a copy of the workspace."""


class GovernedProgram:
    """Runs sessions called `work`, `work-2`, …, each going on with the one before; reviews are off."""

    version = "1"

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(GovernedOptions, options, "program 'governed'")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json")
        is_told = self._options.contract == "reference"
        self._most_attempts = max(self._options.attempts, REFERENCE_ATTEMPTS if is_told else 1)
        self.oracles = (ORACLE,) if self._options.contract == "reference" else ()
        self.demands: tuple[Demand, ...] = (_DEMAND,) * (self._most_attempts + MOST_REFUSALS)

    def perform(self, prompt: str, sessions: Sessions) -> tuple[SessionReport, ...]:
        terms = self._terms(prompt, sessions)
        governor = Governor(terms, sessions.still)
        told: str | None = framed(prompt, sessions.task.action, _opening(terms, sessions))
        reports: list[SessionReport] = []
        while told is not None:
            name = SESSION if not reports else f"{SESSION}-{len(reports) + 1}"
            before = reports[-1].name if reports else None
            phase = Phase(demand=_DEMAND, artifact=None if reports else _PLACE, continues=before)
            end = sessions.run_phase(name, told, phase)
            reports.append(end.report)
            told = governor.stop(end)
        sessions.conclude(governor.governed())
        return tuple(reports)

    def _terms(self, prompt: str, sessions: Sessions) -> Terms:
        options = self._options
        bounds = Bounds(attempts=self._most_attempts, profiles=tuple(options.verifiers), sources=options.sources)
        is_told = options.contract == "reference"
        reference = reference_contract(sessions.task, prompt) if is_told else None
        return Terms(bounds, options.verifiers, reference)


def _opening(terms: Terms, sessions: Sessions) -> str:
    if terms.reference is None:
        return model_opening(terms.bounds)
    return reference_opening(terms.reference, forbidden_path(sessions.task))
