"""What is Claude Code's own: its caps, denials, skills and sub-agents, live."""

import json

import pytest

from farm.model import RequestEnd
from tests.builders.worker.live import Lived, Stage
from tests.services.provider import ScriptedProvider, serving
from worker.agents.claude_code import ClaudeCodeAgent

MODEL = "claude-opus-5-5"
USAGE = {"ordinary_input": 3000, "cache_read": 44000, "cache_write": 1000, "output": 120}
WRITES = {"write": {"path": "hello.txt", "text": "hello\n"}}
GREET = {".claude/skills/greet/SKILL.md": "---\nname: greet\ndescription: Greets loudly.\n---\nSay HELLO.\n"}


def an_agent(**options: object) -> ClaudeCodeAgent:
    return ClaudeCodeAgent({"model": MODEL, **options})  # type: ignore[dict-item]  # what is wrong is a SpecError


def turns(*replies: dict[str, object]) -> dict[str, object]:
    return {"rules": [{"turns": list(replies)}], "default_usage": USAGE}


def tools_offered(provider: ScriptedProvider) -> set[str]:
    body = provider.requests[0].line()
    return {tool["name"] for tool in json.loads(body)["body"]["tools"]}


def played(stage: Stage, agent: ClaudeCodeAgent, script: dict[str, object], **more: object) -> Lived:
    with serving(script) as provider:
        return stage.play(agent, provider.url, **more)  # type: ignore[arg-type]


def test_a_turn_cap_ends_the_session_after_so_many_requests(stage: Stage) -> None:
    script = {"rules": [{"reply": {"tools": [{"run": {"command": "date +%N"}}]}}], "default_usage": USAGE}
    lived = played(stage, an_agent(most_turns=3), script)
    assert (lived.report.reason, lived.report.turns) == ("error_max_turns", 3)
    assert lived.door.ends == {RequestEnd.ANSWERED: 3}


def test_only_the_allowed_tools_are_offered(stage: Stage) -> None:
    with serving(turns({"answer": "Nothing to do."})) as provider:
        stage.play(an_agent(allowed_tools=["Read", "Bash(git log *)"]), provider.url)
    assert tools_offered(provider) - {"DeferredToolPlaceholder"} == {"Read", "Bash"}


def test_a_tool_beside_the_rules_is_denied_and_the_report_says_so(stage: Stage) -> None:
    script = turns({"tools": [{"run": {"command": "touch hello.txt"}}]}, {"answer": "I was not allowed."})
    lived = played(stage, an_agent(allowed_tools=["Read", "Bash(git log *)"]), script)
    assert lived.report.exit.is_zero
    assert lived.report.reason == "permission_denied"
    assert lived.report.problem == "the agent wanted tools that it was denied: Bash"
    assert lived.files == {}


def test_a_skill_of_the_workspace_that_is_used_is_proven(stage: Stage) -> None:
    script = turns({"tools": [{"skill": {"name": "greet"}}]}, {"answer": "HELLO"})
    lived = played(stage, an_agent(required_skill="greet"), script, workspace=GREET)
    assert (lived.report.problem, lived.report.tool_calls) == (None, {"Skill": 1})


def test_a_skill_that_is_not_there_is_not_used(stage: Stage) -> None:
    script = turns({"tools": [{"skill": {"name": "greet"}}]}, {"answer": "HELLO"})
    lived = played(stage, an_agent(required_skill="greet"), script)
    assert lived.report.reason == "skill-not-invoked"
    assert lived.report.cost_usd is not None


@pytest.mark.parametrize("is_read", [True, False], ids=["with the workspace", "alone"])
def test_a_plug_in_of_the_arm_brings_its_skills_and_alone_its_hooks(stage: Stage, *, is_read: bool) -> None:
    hook = {"hooks": [{"type": "command", "command": "touch hooked"}]}
    stage.assets["polite"] = {
        ".claude-plugin/plugin.json": json.dumps({"name": "polite", "version": "1.0.0"}),
        "skills/greet/SKILL.md": GREET[".claude/skills/greet/SKILL.md"],
        "hooks/hooks.json": json.dumps({"hooks": {"SessionStart": [hook]}}),
    }
    script = turns({"tools": [{"skill": {"name": "polite:greet"}}]}, {"answer": "HELLO"})
    lived = played(stage, an_agent(required_skill="greet", plugins=["polite"], project=is_read), script)
    assert lived.report.problem is None
    assert ("hooked" in lived.files) != is_read


def test_a_folder_of_skills_is_a_plug_in_and_one_that_is_not_there_is_told(stage: Stage) -> None:
    stage.assets["manners"] = {"skills/greet/SKILL.md": GREET[".claude/skills/greet/SKILL.md"]}
    script = turns({"tools": [{"skill": {"name": "manners:greet"}}]}, {"answer": "HELLO"})
    there = played(stage, an_agent(required_skill="greet", plugins=["manners"]), script)
    missing = played(stage, an_agent(plugins=["manner"]), script)
    assert there.report.problem is None
    assert (missing.report.problem or "").startswith("the plug-in /cell/assets/manner was not loaded")


def test_a_hook_of_the_workspace_is_never_executed(stage: Stage) -> None:
    hook = {"hooks": [{"type": "command", "command": "touch hooked"}]}
    settings = json.dumps({"hooks": {"SessionStart": [hook], "UserPromptSubmit": [hook], "Stop": [hook]}})
    lived = played(stage, an_agent(), turns({"answer": "Done."}), workspace={".claude/settings.json": settings})
    assert lived.report.problem is None
    assert "hooked" not in lived.files


def test_sub_agents_of_any_tier_ask_the_one_model_and_the_session_has_one_result(stage: Stage) -> None:
    asked = {"description": "look", "prompt": "SUBTASK", "subagent_type": "Explore", "model": "haiku"}
    asks = {"name": "Agent", "input": asked}
    script = {
        "rules": [
            {"when": {"prompt": "Write hello.txt.", "turn": 0}, "reply": {"tools": [{"call": asks}]}},
            {"when": {"prompt": "Write hello.txt."}, "reply": {"answer": "All done."}},
            {"when": {"prompt": "SUBTASK", "turn": 0}, "reply": {"tools": [{"run": {"command": "ls"}}]}},
            {"when": {"prompt": "SUBTASK"}, "reply": {"text": "Looked."}},
        ],
        "default_usage": USAGE,
    }
    lived = played(stage, an_agent(), script)
    assert (lived.report.problem, lived.report.final_answer) == (None, "All done.")
    assert (lived.report.turns, lived.report.tool_calls) == (2, {"Agent": 1, "Bash": 1})
    assert [(use.model, use.requests) for use in lived.door.models] == [(MODEL, 4)]
    assert lived.door.ends == {RequestEnd.ANSWERED: 4}


def test_a_task_in_the_background_does_not_begin_a_second_conversation(stage: Stage) -> None:
    call = {"name": "Bash", "input": {"command": "sleep 0.5", "run_in_background": True}}
    lived = played(stage, an_agent(), turns({"tools": [{"call": call}]}, {"answer": "All done."}))
    assert (lived.report.problem, lived.report.final_answer) == (None, "All done.")
    assert lived.door.ends == {RequestEnd.ANSWERED: 2}


def test_the_workspaces_settings_do_not_choose_the_model(stage: Stage) -> None:
    settings = json.dumps({"model": "claude-haiku-5-5", "env": {"ANTHROPIC_MODEL": "claude-haiku-5-5"}})
    lived = played(stage, an_agent(), turns({"answer": "Done."}), workspace={".claude/settings.json": settings})
    assert lived.report.problem is None
    assert [use.model for use in lived.door.models] == [MODEL]


LOOK = """
if test -e /run/model.sock || (exec 3<>/dev/tcp/127.0.0.1/8080) 2>/dev/null
then echo a door; else echo none; fi > found
"""


@pytest.mark.parametrize(("is_sealed", "found"), [(True, b"none\n"), (False, b"a door\n")])
def test_sealed_tools_have_no_door_and_open_ones_have(stage: Stage, is_sealed: bool, found: bytes) -> None:
    script = turns({"tools": [WRITES, {"run": {"command": LOOK}}]}, {"answer": "Looked."})
    lived = played(stage, an_agent(sealed_tools=is_sealed), script)
    assert (lived.report.problem, lived.report.tool_calls) == (None, {"Write": 1, "Bash": 1})
    assert lived.files == {"hello.txt": b"hello\n", "found": found}
