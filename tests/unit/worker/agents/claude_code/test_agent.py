"""How Claude Code is started."""

import itertools
import json

import pytest

from farm.errors import SpecError
from farm.model import Wire
from tests.builders.worker.recorded import a_request
from worker.agents.claude_code import ClaudeCodeAgent
from worker.session import AgentProgram

MODEL = "claude-opus-5-5"


def an_agent(**options):
    return ClaudeCodeAgent({"model": MODEL, **options})


def words(**options):
    return an_agent(**options).launch(a_request()).argv


def after(argv, flag):
    return argv[argv.index(flag) + 1]


def test_a_plain_arm_makes_this_command_line() -> None:
    tools = ("Agent", "Bash", "Edit", "Read", "Skill", "Write")
    assert words() == (
        *("/opt/agent/claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "dontAsk"),
        *("--tools", *tools, "--allowedTools", *tools),
        *("--strict-mcp-config", "--setting-sources", "project", "--settings", '{"disableAllHooks":true}'),
        *("--no-session-persistence", "--model", MODEL),
    )


def test_every_option_has_its_words() -> None:
    argv = words(
        effort="high", most_turns=7, allowed_tools=["Read", "Bash(git log *)", "Bash(ls)"], denied_tools=["Bash(rm *)"]
    )
    joined = "\n".join(argv)
    assert (
        "--tools\nRead\nBash\n--allowedTools\nRead\nBash(git log *)\nBash(ls)\n--disallowedTools\nBash(rm *)\n"
        in joined
    )
    assert "--effort\nhigh" in joined
    assert "--max-turns\n7" in joined


def test_an_arm_without_tools_has_none() -> None:
    argv = words(allowed_tools=[])
    assert after(argv, "--tools") == ""
    assert "--allowedTools" not in argv


def test_a_workspace_that_is_not_to_be_read_is_no_source_of_settings() -> None:
    assert after(words(project=False), "--setting-sources") == ""


def test_hooks_are_off_where_the_workspaces_would_run() -> None:
    assert after(words(), "--settings") == '{"disableAllHooks":true}'
    assert "--settings" not in words(project=False)


def test_a_plug_in_is_an_asset_of_the_arm() -> None:
    assert "\n".join(words(plugins=["review", "style"])).count("--plugin-dir\n/cell/assets/") == 2


def test_the_program_is_pinned_and_so_are_the_models() -> None:
    agent = an_agent(version="2.1.300", models=["claude-haiku-5-5"])
    assert agent.program == AgentProgram("claude-code", "2.1.300")
    assert agent.launch(a_request()).models == (MODEL, "claude-haiku-5-5")


def test_a_mark_for_a_longer_context_is_no_part_of_what_the_door_is_asked_for() -> None:
    launch = an_agent(model="claude-opus-5-5[1m]", models=["claude-opus-5-5"]).launch(a_request())
    assert after(launch.argv, "--model") == "claude-opus-5-5[1m]"
    assert launch.models == ("claude-opus-5-5",)


def test_side_questions_go_to_the_one_model_unless_the_arm_names_more() -> None:
    one, more = an_agent().launch(a_request()).env, an_agent(models=["claude-haiku-5-5"]).launch(a_request()).env
    tiers = {"ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL"}
    assert {one[tier] for tier in tiers} == {MODEL}
    assert not tiers & more.keys()


def test_it_finds_its_door_with_a_key_that_is_worth_nothing() -> None:
    env = an_agent().launch(a_request()).env
    assert env["ANTHROPIC_UNIX_SOCKET"] == "/run/model.sock"
    assert env["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:8080"
    assert env["ANTHROPIC_API_KEY"] == "cellfarm-holds-the-real-key"
    assert ClaudeCodeAgent.wires == (Wire.ANTHROPIC,)


def test_fact_15_its_home_is_always_set() -> None:
    assert an_agent().launch(a_request()).env["HOME"] == "/home/agent"


def test_fact_13_a_refused_key_is_not_retried_for_minutes() -> None:
    assert an_agent().launch(a_request()).env["CLAUDE_CODE_MAX_RETRIES"] == "2"
    assert an_agent(retries=0).launch(a_request()).env["CLAUDE_CODE_MAX_RETRIES"] == "0"


def test_updates_telemetry_and_background_tasks_are_off() -> None:
    env = an_agent().launch(a_request()).env
    off = ("DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS")
    assert [env[name] for name in off] == ["1", "1", "1"]


@pytest.mark.parametrize("prompt", ["x" * 200_000, "--model evil", "-", "{instructions}", "é\n\nü"])
def test_fact_12_a_prompt_goes_by_standard_input_as_it_is(prompt: str) -> None:
    launch = an_agent().launch(a_request(prompt))
    assert launch.stdin == prompt.encode()
    assert launch.argv == an_agent().launch(a_request("another")).argv


def test_instructions_of_any_length_go_by_a_file_below_the_home() -> None:
    text = "Be brief.\n" * 20_000
    launch = an_agent().launch(a_request(instructions=text))
    assert after(launch.argv, "--append-system-prompt-file") == "/home/agent/.farm/instructions.md"
    assert launch.home_files == {".farm/instructions.md": text.encode()}


def test_fact_11_it_never_asks_for_what_root_may_not() -> None:
    argv = words()
    assert "bypassPermissions" not in argv
    assert "--dangerously-skip-permissions" not in argv


def test_fact_14_its_own_sandbox_stays_off() -> None:
    assert "sandbox" not in after(words(), "--settings")


def test_fact_18_no_session_id_is_given_so_none_is_used_twice() -> None:
    assert "--session-id" not in words()
    assert "--resume" not in words()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": None}, "model"),
        ({"model": "opus"}, "give a full model id"),
        ({"model": "opus[1m]"}, "give a full model id"),
        ({"models": ["haiku"]}, "give a full model id"),
        ({"model": "a b"}, "model"),
        ({"version": "latest"}, "version"),
        ({"version": "2.1"}, "version"),
        ({"most_turns": 0}, "most_turns"),
        ({"effort": "huge"}, "effort"),
        ({"retries": 11}, "retries"),
        ({"plugins": ["../x"]}, "plugins"),
        ({"allowed_tools": ["--model"]}, "allowed_tools"),
        ({"denied_tools": ["Bash\n"]}, "denied_tools"),
        ({"env": {"ANTHROPIC_BASE_URL": "http://elsewhere"}}, "'ANTHROPIC_BASE_URL' can't be set here; only BASH_"),
        ({"env": {"LD_PRELOAD": "x"}}, "'LD_PRELOAD' can't be set here"),
        ({"required_skill": "/greet"}, "required_skill"),
        ({"required_skill": "greet", "allowed_tools": ["Read"]}, "'Skill' among allowed_tools"),
    ],
)
def test_a_wrong_option_is_one_clear_error(options: dict, says: str) -> None:
    with pytest.raises(SpecError, match="the agent 'claude-code', ") as caught:
        an_agent(**options)
    assert says in str(caught.value)


def test_a_variable_of_the_closed_list_is_handed_on() -> None:
    assert an_agent(env={"MAX_THINKING_TOKENS": "4000"}).launch(a_request()).env["MAX_THINKING_TOKENS"] == "4000"


# What an arm brings.


SERVER = {"asset": "tools", "argv": ["python3", "{asset}/server.py"], "env": {"DEPTH": "3"}}


def test_plug_ins_and_skills_are_folders_that_it_is_told_of() -> None:
    agent = an_agent(plugins=["review"], skills=["house", "style"])
    launch = agent.launch(a_request())
    places = [word for flag, word in itertools.pairwise(launch.argv) if flag == "--plugin-dir"]
    assert places == ["/cell/assets/review", "/cell/skills/house", "/cell/skills/style"]
    assert launch.asset_views == {"/cell/skills/house/skills": "house", "/cell/skills/style/skills": "style"}
    assert agent.assets == ("review", "house", "style")


def test_servers_are_started_in_their_room_and_no_others_are() -> None:
    agent = an_agent(mcp={"tools": SERVER, "more": {**SERVER, "tools": ["look", "find"]}})
    launch = agent.launch(a_request())
    place = after(launch.argv, "--mcp-config")
    args = ["env", "DEPTH=3", "python3", "/cell/assets/tools/server.py"]
    server = {"command": "/.server", "args": args}
    assert json.loads(launch.home_files[place.removeprefix("/home/agent/")]) == {
        "mcpServers": {"tools": server, "more": server}
    }
    assert "--strict-mcp-config" in launch.argv
    assert "\nWrite\nmcp__tools\nmcp__more__look\nmcp__more__find\n" in "\n".join(launch.argv)
    assert (launch.starts_servers, agent.assets) == (True, ("tools",))
    assert an_agent().launch(a_request()).starts_servers is False


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"skills": ["a"], "allowed_tools": ["Read"]}, "skills need the tool 'Skill'"),
        ({"skills": ["a"], "plugins": ["a"]}, "'a' is among plugins and among skills"),
        ({"mcp": {"a_b": SERVER}}, "mcp.a_b"),
        ({"mcp": {"a": {"asset": "tools", "argv": ["python3"]}}}, "mcp.a: "),
    ],
)
def test_what_an_arm_brings_and_can_not_mean_is_refused(options: dict, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        an_agent(**options)
