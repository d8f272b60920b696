"""How Qwen Code is started."""

import json

import pytest

from farm.errors import SpecError
from farm.model import Wire
from tests.builders.worker.recorded import a_request
from worker.agents.qwen_code import QwenCodeAgent
from worker.session import AgentProgram


def an_agent(**options):
    return QwenCodeAgent({"model": "qwen3-x", **options})


def settings(**options):
    return json.loads(an_agent(**options).launch(a_request()).home_files[".farm/settings.json"])


def test_a_plain_arm_makes_this_command_line_and_these_settings() -> None:
    assert an_agent().launch(a_request()).argv == (
        *("/opt/agent/bin/qwen", "--output-format", "stream-json", "--approval-mode", "yolo"),
        *("--auth-type", "openai", "--model", "qwen3-x", "--allowed-mcp-server-names", ""),
    )
    assert settings() == {
        "disableAllHooks": True,
        "general": {"enableAutoUpdate": False},
        "model": {"generationConfig": {"maxRetries": 0}},
        "privacy": {"usageStatisticsEnabled": False},
        "skills": {"directories": []},
        "tools": {"exclude": []},
    }


@pytest.mark.parametrize(
    ("wire", "word"),
    [
        (Wire.CHAT, "openai"),
        (Wire.RESPONSES, "openai-responses"),
        (Wire.ANTHROPIC, "anthropic"),
        (Wire.GEMINI, "gemini"),
    ],
)
def test_it_speaks_four_wires_at_the_door(wire: Wire, word: str) -> None:
    launch = an_agent().launch(a_request(wire=wire))
    assert launch.argv[launch.argv.index("--auth-type") + 1] == word
    assert wire in QwenCodeAgent.wires
    keys = {launch.env[f"{name}_API_KEY"] for name in ("OPENAI", "ANTHROPIC", "GEMINI")}
    assert keys == {"cellfarm-holds-the-real-key"}
    assert {launch.env[f"{name}_BASE_URL"] for name in ("ANTHROPIC", "GOOGLE_GEMINI")} == {"http://127.0.0.1:8080"}
    assert launch.env["OPENAI_BASE_URL"] == "http://127.0.0.1:8080/v1"


def test_its_settings_are_those_of_the_system_so_that_a_workspace_changes_none() -> None:
    env = an_agent().launch(a_request()).env
    assert env["QWEN_CODE_SYSTEM_SETTINGS_PATH"] == "/home/agent/.farm/settings.json"
    assert env["QWEN_CODE_NO_RELAUNCH"] == "true"


def test_what_the_arm_brings_is_named_by_its_place_and_servers_start_in_their_room() -> None:
    server = {"asset": "kit", "argv": ["python3", "{asset}/server.py"], "tools": ["find"]}
    agent = an_agent(skills=["house"], mcp={"lookup": server})
    launch = agent.launch(a_request())
    assert (agent.assets, launch.starts_servers) == (("house", "kit"), True)
    assert launch.argv[-4:] == (
        *("--mcp-config", "/home/agent/.farm/servers.json"),
        *("--allowed-mcp-server-names", "lookup"),
    )
    assert settings(skills=["house"])["skills"] == {"directories": ["/cell/assets/house"]}
    assert json.loads(launch.home_files[".farm/servers.json"])["mcpServers"]["lookup"] == {
        "command": "/.server",
        "args": ["python3", "/cell/assets/kit/server.py"],
        "trust": True,
        "discoveryTimeoutMs": 30000,
        "includeTools": ["find"],
    }


def test_caps_and_denied_tools_are_those_of_the_arm_and_each_flag_stands_once() -> None:
    words = an_agent(most_turns=3).launch(a_request()).argv
    assert words[words.index("--max-session-turns") + 1] == "3"
    flags = [word for word in words if word.startswith("--")]
    assert len(flags) == len(set(flags))
    assert settings(denied_tools=["edit"])["tools"] == {"exclude": ["edit"]}


def test_the_program_is_pinned_and_so_is_the_model() -> None:
    agent = an_agent(version="0.24.3")
    assert agent.program == AgentProgram("qwen-code", "0.24.3")
    assert agent.launch(a_request()).models == ("qwen3-x",)


@pytest.mark.parametrize("prompt", ["x" * 200_000, "--model evil", "-"])
def test_a_prompt_goes_by_standard_input_as_it_is(prompt: str) -> None:
    launch = an_agent().launch(a_request(prompt))
    assert (launch.stdin, launch.argv) == (prompt.encode(), an_agent().launch(a_request()).argv)


def test_instructions_are_its_users_own_below_the_private_home() -> None:
    launch = an_agent().launch(a_request(instructions="Be brief."))
    assert launch.home_files[".qwen/QWEN.md"] == b"Be brief."


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": None}, "model"),
        ({"version": "latest"}, "version"),
        ({"most_turns": 0}, "most_turns"),
        ({"retries": 1}, "retries"),
        ({"env": {"OPENAI_API_KEY": "x"}}, "'OPENAI_API_KEY' can't be set here"),
    ],
)
def test_a_wrong_option_is_one_clear_error(options: dict, says: str) -> None:
    with pytest.raises(SpecError, match="the agent 'qwen-code', ") as caught:
        an_agent(**options)
    assert says in str(caught.value)
