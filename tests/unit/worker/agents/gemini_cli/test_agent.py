"""How Gemini CLI is started."""

import json

import pytest

from farm.errors import SpecError
from farm.model import Wire
from tests.builders.worker.recorded import a_request
from worker.agents.gemini_cli import GeminiCliAgent
from worker.session import AgentProgram


def an_agent(**options):
    return GeminiCliAgent({"model": "gemini-2.5-pro", **options})


def settings(**options):
    return json.loads(an_agent(**options).launch(a_request()).home_files[".gemini/settings.json"])


def test_a_plain_arm_makes_this_command_line_and_these_settings() -> None:
    assert an_agent().launch(a_request()).argv == (
        *("/opt/agent/bin/gemini", "--output-format", "stream-json", "--skip-trust"),
        *("--approval-mode", "yolo", "-m", "gemini-2.5-pro"),
    )
    assert settings() == {
        "general": {"enableAutoUpdate": False, "maxAttempts": 2, "retryFetchErrors": False},
        "hooksConfig": {"enabled": False},
        "model": {"maxSessionTurns": -1},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "tools": {"exclude": ["google_web_search", "web_fetch"]},
    }


def test_fact_38_it_starts_itself_no_second_time_and_asks_at_the_door() -> None:
    assert an_agent().launch(a_request()).env == {
        "GEMINI_API_KEY": "cellfarm-holds-the-real-key",
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:8080",
        "HOME": "/home/agent",
    }
    assert GeminiCliAgent.wires == (Wire.GEMINI,)


def test_caps_retries_and_denied_tools_are_those_of_the_arm() -> None:
    found = settings(most_turns=3, retries=0, denied_tools=["replace"])
    assert (found["model"], found["general"]["maxAttempts"], found["tools"]) == (
        {"maxSessionTurns": 3},
        1,
        {"exclude": ["replace"]},
    )


def test_the_program_is_pinned_and_so_are_the_models() -> None:
    agent = an_agent(version="0.60.0", models=["gemini-2.5-flash"])
    assert agent.program == AgentProgram("gemini-cli", "0.60.0")
    assert agent.launch(a_request()).models == ("gemini-2.5-pro", "gemini-2.5-flash")


@pytest.mark.parametrize("prompt", ["x" * 200_000, "--model evil", "-"])
def test_a_prompt_goes_by_standard_input_as_it_is(prompt: str) -> None:
    launch = an_agent().launch(a_request(prompt))
    assert (launch.stdin, launch.argv) == (prompt.encode(), an_agent().launch(a_request()).argv)


def test_the_skills_of_the_arm_are_its_users_own() -> None:
    agent = an_agent(skills=["house"])
    assert (agent.assets, agent.launch(a_request()).home_links) == (
        ("house",),
        {".gemini/skills": "/cell/assets/house"},
    )
    with pytest.raises(SpecError, match="the agent 'gemini-cli', skills: "):
        an_agent(skills=["house", "garden"])


def test_instructions_are_its_users_own_below_the_private_home() -> None:
    launch = an_agent().launch(a_request(instructions="Be brief."))
    assert launch.home_files[".gemini/GEMINI.md"] == b"Be brief."


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": None}, "model"),
        ({"version": "latest"}, "version"),
        ({"most_turns": 0}, "most_turns"),
        ({"effort": "high"}, "effort"),
        ({"env": {"GEMINI_API_KEY": "x"}}, "'GEMINI_API_KEY' can't be set here; only TZ can"),
    ],
)
def test_a_wrong_option_is_one_clear_error(options: dict, says: str) -> None:
    with pytest.raises(SpecError, match="the agent 'gemini-cli', ") as caught:
        an_agent(**options)
    assert says in str(caught.value)
