"""How aider is started."""

import json

import pytest

from farm.errors import SpecError
from farm.model import Wire
from tests.builders.worker.recorded import a_request
from worker.agents.aider import AiderAgent
from worker.session import AgentProgram


def an_agent(**options):
    return AiderAgent({"model": "farm-x", **options})


def test_a_plain_arm_makes_this_command_line() -> None:
    words = an_agent().launch(a_request()).argv
    assert words[:6] == ("/opt/agent/bin/python", "-I", "-m", "aider", "--model", "openai/farm-x")
    assert words[-3:] == ("--no-git", "--message-file", "/home/agent/.farm/prompt.md")
    assert {"--yes-always", "--no-stream", "--no-auto-commits", "--analytics-disable", "--no-check-update"} <= {*words}


@pytest.mark.parametrize(("wire", "provider"), [(Wire.CHAT, "openai"), (Wire.ANTHROPIC, "anthropic")])
def test_it_speaks_either_wire_at_the_door_with_every_model_that_it_has(wire: Wire, provider: str) -> None:
    launch = an_agent().launch(a_request(wire=wire))
    assert [word for word in launch.argv if "farm-x" in word] == [f"{provider}/farm-x"] * 2
    assert (launch.env["OPENAI_API_BASE"], launch.env["ANTHROPIC_API_BASE"]) == (
        "http://127.0.0.1:8080/v1",
        "http://127.0.0.1:8080",
    )
    assert {launch.env["OPENAI_API_KEY"], launch.env["ANTHROPIC_API_KEY"]} == {"cellfarm-holds-the-real-key"}


def test_prompt_and_instructions_go_by_files_of_its_home() -> None:
    launch = an_agent().launch(a_request("x" * 200_000, "Be brief."))
    assert launch.home_files[".farm/prompt.md"] == b"x" * 200_000
    assert launch.home_files[".farm/instructions.md"] == b"Be brief."
    assert launch.argv[launch.argv.index("--read") + 1] == "/home/agent/.farm/instructions.md"


def test_its_client_repeats_no_request_and_no_line_is_broken() -> None:
    launch = an_agent().launch(a_request())
    place = launch.argv[launch.argv.index("--model-settings-file") + 1].removeprefix("/home/agent/")
    assert json.loads(launch.home_files[place]) == [{"name": "aider/extra_params", "extra_params": {"max_retries": 0}}]
    assert int(launch.env["COLUMNS"]) > 10_000


def test_git_and_the_spelling_of_edits_are_the_arms() -> None:
    words = an_agent(git=True, map_tokens=1000, edit_format="udiff").launch(a_request()).argv
    assert "--no-git" not in words
    assert (words[words.index("--map-tokens") + 1], words[words.index("--edit-format") + 1]) == ("1000", "udiff")


def test_the_program_is_pinned_and_so_is_the_model() -> None:
    agent = an_agent(version="0.86.1")
    assert agent.program == AgentProgram("aider", "0.86.1")
    assert agent.launch(a_request()).models == ("farm-x",)


@pytest.mark.parametrize("options", [{"model": None}, {"version": "latest"}, {"edit_format": "x"}, {"most_turns": 1}])
def test_a_wrong_option_is_one_clear_error(options: dict) -> None:
    with pytest.raises(SpecError, match="the agent 'aider', ") as caught:
        an_agent(**options)
    assert next(iter(options)) in str(caught.value)
