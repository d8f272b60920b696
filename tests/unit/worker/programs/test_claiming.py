"""One session that says whether its task is done."""

import pytest

from farm.errors import SpecError
from farm.model import NO_SUCCESS_LINE, SUCCESS_LINE, ActionClass
from tests.builders.worker.sessions import ToldSessions, a_task
from worker.programs.claiming import ClaimingProgram


@pytest.mark.parametrize(
    ("answer", "claims"),
    [(f"Done.\n{SUCCESS_LINE}", True), (f"No.\n{NO_SUCCESS_LINE}", False), ("Done.", False), (None, False)],
)
def test_the_last_line_of_the_answer_is_the_claim(answer: str | None, claims: bool) -> None:
    sessions = ToldSessions(answer=answer)
    ClaimingProgram({}).perform("Fix.", sessions)
    (governed,) = sessions.concluded
    assert (governed.claims_success, governed.is_governed, governed.contract) == (claims, False, None)


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        (ActionClass.READ_ONLY, "Change nothing"),
        (ActionClass.REVERSIBLE, "Change only this workspace"),
        (ActionClass.EXTERNAL, "do not try it again"),
    ],
)
def test_the_session_is_told_what_it_may_do_and_how_it_ends(action: ActionClass, rule: str) -> None:
    sessions = ToldSessions(task=a_task(action=action))
    ClaimingProgram({}).perform("Fix.", sessions)
    (asked,) = sessions.asked
    assert rule in asked.prompt
    assert asked.prompt.index("Fix.") < asked.prompt.index(SUCCESS_LINE)
    assert NO_SUCCESS_LINE in asked.prompt


def test_it_takes_no_options() -> None:
    with pytest.raises(SpecError, match="takes no options, but has prompt"):
        ClaimingProgram({"prompt": "x"})
