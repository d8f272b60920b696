"""How Codex is started."""

import itertools
import tomllib

import pytest

from farm.errors import SpecError
from farm.model import Wire
from tests.builders.worker.recorded import a_request
from worker.agents.codex import CodexAgent
from worker.session import AgentProgram

MODEL = "gpt-6.2-sol"


def an_agent(**options):
    return CodexAgent({"model": MODEL, **options})


def words(**options):
    return an_agent(**options).launch(a_request()).argv


def settings(**options):
    """Read what the command line sets, as Codex does."""
    argv = words(**options)
    found = {}
    for flag, setting in itertools.pairwise(argv):
        if flag == "-c":
            for key, value in tomllib.loads(setting).items():
                found[key] = {**found[key], **value} if isinstance(value, dict) and key in found else value
    return found


def test_a_plain_arm_makes_this_command_line() -> None:
    argv = words()
    assert argv[:8] == (
        *("/opt/agent/bin/codex", "exec", "--json", "--skip-git-repo-check", "--ephemeral"),
        *("--dangerously-bypass-approvals-and-sandbox", "-m", MODEL),
    )
    assert argv[-1] == "-"
    disabled = [word for flag, word in itertools.pairwise(argv) if flag == "--disable"]
    assert disabled == ["plugins", "shell_snapshot", "unbounded_connection_retries"]


def test_fact_25_its_provider_is_one_of_its_own_behind_the_door() -> None:
    found = settings()
    assert found["model_provider"] == "farm"
    assert found["model_providers"]["farm"] == {
        "name": "farm",
        "base_url": "http://127.0.0.1:8080/v1",
        "wire_api": "responses",
        "env_key": "FARM_DOOR_KEY",
        "request_max_retries": 1,
        "stream_max_retries": 1,
        "stream_idle_timeout_ms": 300000,
    }
    assert an_agent().launch(a_request()).env["FARM_DOOR_KEY"] == "cellfarm-holds-the-real-key"
    assert CodexAgent.wires == (Wire.RESPONSES,)


def test_fact_27_its_retries_are_those_of_the_arm() -> None:
    provider = settings(retries=0)["model_providers"]["farm"]
    assert (provider["request_max_retries"], provider["stream_max_retries"]) == (0, 0)


def test_fact_28_analytics_updates_and_searches_past_the_sandbox_are_off() -> None:
    found = settings()
    assert found["analytics"] == {"enabled": False}
    assert (found["check_for_update_on_startup"], found["web_search"]) == (False, "disabled")


def test_fact_23_it_does_not_wait_for_ever_for_a_network() -> None:
    assert "unbounded_connection_retries" in words()


def test_fact_24_its_own_sandbox_refuses_nothing_in_silence() -> None:
    assert "--dangerously-bypass-approvals-and-sandbox" in words()


def test_fact_21_no_session_is_resumed_so_its_usage_is_its_own() -> None:
    assert "resume" not in words()
    assert "--ephemeral" in words()


def test_effort_and_a_workspace_that_is_not_to_be_read_are_settings() -> None:
    found = settings(effort="high", project=False)
    assert (found["model_reasoning_effort"], found["project_doc_max_bytes"]) == ("high", 0)
    assert found["skills"] == {"include_instructions": False}


def test_skills_of_the_arm_are_its_users_own_and_led_to_by_links() -> None:
    agent = an_agent(skills=["house"])
    assert agent.launch(a_request()).home_links == {".agents/skills/house": "/cell/assets/house"}
    assert agent.assets == ("house",)
    with pytest.raises(SpecError, match="skills need project: true"):
        an_agent(skills=["house"], project=False)


def test_servers_are_started_in_their_room_and_needed() -> None:
    mcp = {
        "tools": {"asset": "kit", "argv": ["python3", "{asset}/ü.py"], "env": {"DEPTH": "3"}},
        "more": {"asset": "kit", "argv": ["{asset}/run"], "tools": ["look"]},
    }
    always = {"command": "/.server", "required": True, "startup_timeout_sec": 30}
    assert settings(mcp=mcp)["mcp_servers"] == {
        "tools": {**always, "args": ["env", "DEPTH=3", "python3", "/cell/assets/kit/ü.py"]},
        "more": {**always, "args": ["/cell/assets/kit/run"], "enabled_tools": ["look"]},
    }
    agent = an_agent(mcp=mcp)
    assert (agent.launch(a_request()).starts_servers, agent.assets) == (True, ("kit",))


def test_the_program_is_pinned_and_so_are_the_models() -> None:
    agent = an_agent(version="0.170.1", models=["gpt-x"])
    assert agent.program == AgentProgram("codex", "0.170.1")
    assert agent.launch(a_request()).models == (MODEL, "gpt-x")


@pytest.mark.parametrize("prompt", ["x" * 200_000, "--model evil", "-"])
def test_a_prompt_goes_by_standard_input_as_it_is(prompt: str) -> None:
    launch = an_agent().launch(a_request(prompt))
    assert (launch.stdin, launch.argv) == (prompt.encode(), words())


def test_instructions_are_its_users_own_below_the_private_home() -> None:
    launch = an_agent().launch(a_request(instructions="Be brief."))
    assert launch.home_files == {".codex/AGENTS.md": b"Be brief."}
    assert launch.env["HOME"] == "/home/agent"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": None}, "model"),
        ({"model": 'x"'}, "model"),
        ({"version": "latest"}, "version"),
        ({"effort": 'high"'}, "effort"),
        ({"most_turns": 3}, "most_turns"),
        ({"allowed_tools": ["Bash"]}, "allowed_tools"),
        ({"env": {"OPENAI_API_KEY": "x"}}, "'OPENAI_API_KEY' can't be set here; only RUST_LOG, TZ can"),
    ],
)
def test_a_wrong_option_is_one_clear_error(options: dict, says: str) -> None:
    with pytest.raises(SpecError, match="the agent 'codex', ") as caught:
        an_agent(**options)
    assert says in str(caught.value)
