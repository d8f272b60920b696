"""A governed program: what it refuses, and what it asks of its agent."""

import pytest
from pydantic import JsonValue

from farm.errors import SpecError
from farm.model import OracleSpec
from tests.builders.worker.sessions import ToldSessions, a_task
from worker.agents.claude_code import ClaudeCodeAgent
from worker.agents.codex import CodexAgent
from worker.agents.mini_swe_agent import MiniSweAgent
from worker.agents.scripted import ScriptedAgent
from worker.agents.stand_in import StandInAgent
from worker.programs.governed import GovernedProgram
from worker.session import Agent

LASTING: list[Agent] = [
    ClaudeCodeAgent({"model": "claude-opus-5-5"}),
    CodexAgent({"model": "gpt-6.2-sol"}),
    StandInAgent({"model": "m"}),
    ScriptedAgent({"scripts": {"*": []}}),
]


@pytest.mark.parametrize("agent", LASTING, ids=[type(agent).__name__ for agent in LASTING])
def test_agents_that_can_go_on_with_a_session_take_it(agent: Agent) -> None:
    demand = GovernedProgram({}).demands[0]
    type(agent)(demand.merged(agent.options))  # type: ignore[call-arg]  # the protocol does not tell how one is built


def test_an_agent_that_cant_go_on_with_a_session_refuses_it_by_name() -> None:
    agent = MiniSweAgent({"model": "m"})
    with pytest.raises(SpecError, match=r"agent 'mini-swe-agent', lasting: there is no such option"):
        MiniSweAgent(GovernedProgram({}).demands[0].merged(agent.options))


@pytest.mark.parametrize(
    ("options", "sessions"),
    [
        ({"attempts": 1}, 3),
        ({"attempts": 4}, 6),
        ({"contract": "reference", "attempts": 1}, 5),
        ({"contract": "reference", "attempts": 4}, 6),
    ],
)
def test_it_announces_each_session_that_there_may_be(options: dict[str, JsonValue], sessions: int) -> None:
    assert len(GovernedProgram(options).demands) == sessions


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"attempts": 11}, "attempts"),
        ({"sources": 0}, "sources"),
        ({"contract": "human"}, "contract"),
        ({"verifiers": {"unit": []}}, "verifiers"),
    ],
)
def test_options_out_of_their_bounds_are_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(SpecError, match=f"program 'governed', {says}"):
        GovernedProgram(options)  # type: ignore[arg-type]  # what is wrong is the point


def test_a_pinned_program_is_the_same_again() -> None:
    options = GovernedProgram({"contract": "reference", "verifiers": {"unit": ["make", "test"]}}).options
    assert GovernedProgram(options).options == options


def test_a_reference_contract_is_made_from_the_oracle_files_alone() -> None:
    sessions = ToldSessions(task=a_task(oracle=OracleSpec(kind="pytest")))
    with pytest.raises(SpecError, match="the oracle 'pytest', and a reference contract is made from 'files' alone"):
        GovernedProgram({"contract": "reference"}).perform("Fix.", sessions)


def test_a_contract_that_is_told_is_for_tasks_whose_oracle_is_files() -> None:
    assert (GovernedProgram({"contract": "reference"}).oracles, GovernedProgram({}).oracles) == (("files",), ())
