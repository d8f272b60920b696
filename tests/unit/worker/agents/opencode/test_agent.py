"""How OpenCode is started."""

import json

import pytest

from farm.errors import SpecError
from farm.model import Wire
from tests.builders.worker.recorded import a_request
from worker.agents.opencode import OpencodeAgent
from worker.session import AgentProgram

CONFIG = ".config/opencode/opencode.json"


def an_agent(**options):
    return OpencodeAgent({"model": "m1", **options})


def config(wire=Wire.ANTHROPIC, **options):
    return json.loads(an_agent(**options).launch(a_request(wire=wire)).home_files[CONFIG])


def test_a_plain_arm_makes_this_command_line_and_this_configuration() -> None:
    launch = an_agent().launch(a_request(wire=Wire.ANTHROPIC))
    assert launch.argv == ("/opt/agent/bin/opencode", "run", "--format", "json", "--title", "session")
    assert config() == {
        "autoupdate": False,
        "share": "disabled",
        "enabled_providers": ["farm"],
        "model": "farm/m1",
        "small_model": "farm/m1",
        "permission": {"*": "allow", "webfetch": "deny", "websearch": "deny"},
        "skills": {"paths": []},
        "mcp": {},
        "instructions": ["/cell/ws/AGENTS.md"],
        "provider": {
            "farm": {
                "npm": "@ai-sdk/anthropic",
                "options": {"baseURL": "http://127.0.0.1:8080/v1", "apiKey": "cellfarm-holds-the-real-key"},
                "models": {"m1": {"limit": {"context": 200000, "output": 32000}}},
            }
        },
    }


def test_what_the_arm_brings_is_named_by_its_place_and_servers_start_in_their_room() -> None:
    server = {"asset": "kit", "argv": ["python3", "{asset}/server.py"], "tools": ["find"]}
    agent = an_agent(skills=["house"], mcp={"lookup": server}, denied_tools=["bash"])
    launch = agent.launch(a_request())
    assert (agent.assets, launch.starts_servers) == (("house", "kit"), True)
    assert launch.argv[-3:] == ("--print-logs", "--log-level", "WARN")
    found = json.loads(launch.home_files[CONFIG])
    assert found["skills"] == {"paths": ["/cell/assets/house"]}
    command = ["/.server", "python3", "/cell/assets/kit/server.py"]
    assert found["mcp"] == {"lookup": {"type": "local", "command": command, "enabled": True, "timeout": 30000}}
    rules = [("*", "allow"), ("lookup_*", "deny"), ("lookup_find", "allow"), ("bash", "deny")]
    assert list(found["permission"].items()) == rules


def test_it_finds_the_program_that_its_searches_need_and_would_download() -> None:
    assert an_agent().launch(a_request()).home_links == {".cache/opencode/bin/rg": "/opt/agent/bin/rg"}


@pytest.mark.parametrize(
    ("wire", "library"),
    [
        (Wire.ANTHROPIC, "@ai-sdk/anthropic"),
        (Wire.RESPONSES, "@ai-sdk/openai"),
        (Wire.CHAT, "@ai-sdk/openai-compatible"),
    ],
)
def test_it_speaks_three_wires_at_the_door(wire: Wire, library: str) -> None:
    assert config(wire)["provider"]["farm"]["npm"] == library
    assert wire in OpencodeAgent.wires


def test_fact_31_it_is_given_a_title_so_that_it_asks_no_model_for_one() -> None:
    assert "--title" in an_agent().launch(a_request()).argv


def test_what_starts_programs_or_looks_for_a_network_is_off() -> None:
    env = an_agent().launch(a_request()).env
    off = ("AUTOUPDATE", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "MODELS_FETCH", "PROJECT_CONFIG", "SHARE")
    assert {name: env[f"OPENCODE_DISABLE_{name}"] for name in off} == dict.fromkeys(off, "1")
    assert (env["OPENCODE_PURE"], env["HOME"]) == ("1", "/home/agent")


def test_a_workspace_that_is_not_to_be_read_is_not() -> None:
    assert config(project=False)["instructions"] == []
    assert an_agent(project=False).launch(a_request()).env["OPENCODE_DISABLE_EXTERNAL_SKILLS"] == "1"


def test_denied_tools_and_the_models_bounds_are_those_of_the_arm() -> None:
    found = config(denied_tools=["bash"], context_tokens=1000, output_tokens=100)
    assert found["permission"] == {"*": "allow", "bash": "deny"}
    assert found["provider"]["farm"]["models"]["m1"]["limit"] == {"context": 1000, "output": 100}


def test_the_program_is_pinned_and_so_is_the_model() -> None:
    agent = an_agent(version="1.18.32")
    assert agent.program == AgentProgram("opencode", "1.18.32")
    assert agent.launch(a_request()).models == ("m1",)


@pytest.mark.parametrize("prompt", ["x" * 200_000, "--model evil", "-"])
def test_a_prompt_goes_by_standard_input_as_it_is(prompt: str) -> None:
    launch = an_agent().launch(a_request(prompt))
    assert (launch.stdin, launch.argv) == (prompt.encode(), an_agent().launch(a_request()).argv)


def test_instructions_are_its_users_own_below_the_private_home() -> None:
    launch = an_agent().launch(a_request(instructions="Be brief."))
    assert launch.home_files[".config/opencode/AGENTS.md"] == b"Be brief."


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": None}, "model"),
        ({"version": "latest"}, "version"),
        ({"most_turns": 3}, "most_turns"),
        ({"denied_tools": ['a"']}, "denied_tools"),
        ({"env": {"OPENCODE_CONFIG": "x"}}, "'OPENCODE_CONFIG' can't be set here"),
    ],
)
def test_a_wrong_option_is_one_clear_error(options: dict, says: str) -> None:
    with pytest.raises(SpecError, match="the agent 'opencode', ") as caught:
        an_agent(**options)
    assert says in str(caught.value)
