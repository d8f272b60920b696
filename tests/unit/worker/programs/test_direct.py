"""One work session with a prompt and bounds of its own."""

import pytest

from farm.errors import SpecError
from tests.builders.worker.sessions import ToldSessions
from worker.phases import Demand
from worker.programs.direct import DirectProgram
from worker.programs.single import SingleProgram


def test_the_session_is_told_the_task_and_to_wait_for_its_checks() -> None:
    sessions = ToldSessions()
    DirectProgram({"prompt": "{prompt}\n\nImplement and verify.", "denied_tools": ["Skill"]}).perform("Fix.", sessions)
    (asked,) = sessions.asked
    assert asked.prompt.startswith("Fix.\n\nImplement and verify.\n\nRun every check in the foreground")
    assert asked.phase.demand == Demand(("Skill",))
    assert asked.phase.work_beside == ()


def test_what_a_task_writes_in_braces_stays_as_it_is() -> None:
    sessions = ToldSessions()
    DirectProgram({}).perform("Print {prompt} and {plan}.", sessions)
    assert sessions.asked[0].prompt.startswith("Print {prompt} and {plan}.\n\n")


def test_a_prompt_that_leaves_the_task_out_is_refused() -> None:
    with pytest.raises(SpecError, match="holds no"):
        DirectProgram({"prompt": "Implement and verify."})


def test_a_pinned_program_is_the_same_again() -> None:
    options = DirectProgram({"skill": "work", "may_not_change": [".claude/**"]}).options
    assert DirectProgram(options).options == options


def test_single_asks_for_a_session_without_bounds() -> None:
    sessions = ToldSessions()
    SingleProgram({}).perform("Fix.", sessions)
    (asked,) = sessions.asked
    assert (asked.name, asked.prompt, asked.phase.is_bounded) == ("work", "Fix.", False)
