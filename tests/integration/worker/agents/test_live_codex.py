"""What is Codex's own, live."""

import pytest

from farm.model import RequestEnd
from tests.builders.worker.live import Stage
from tests.services.provider import serving
from worker.agents.codex import CodexAgent

USAGE = {"ordinary_input": 3000, "cache_read": 44000, "cache_write": 1000, "output": 120, "reasoning": 40}
GREET = {".agents/skills/greet/SKILL.md": "---\nname: greet\ndescription: Greets loudly.\n---\nSay HELLO.\n"}


def an_agent(model: str = "gpt-6.2-sol", **options: object) -> CodexAgent:
    return CodexAgent({"model": model, **options})  # type: ignore[dict-item]  # what is wrong is a SpecError


def turns(*replies: dict[str, object]) -> dict[str, object]:
    return {"rules": [{"turns": list(replies)}], "default_usage": USAGE}


@pytest.mark.parametrize("model", ["gpt-6.2-sol", "gpt-x"], ids=["of the catalogue", "unknown"])
def test_fact_26_a_model_of_the_catalogue_and_another_run_commands(stage: Stage, model: str) -> None:
    script = turns({"tools": [{"run": {"command": "echo hello >hello.txt"}}]}, {"answer": "All done."})
    with serving(script) as provider:
        lived = stage.play(an_agent(model), provider.url)
    assert (lived.report.problem, lived.report.tool_calls) == (None, {"command_execution": 1})
    assert lived.files == {"hello.txt": b"hello\n"}
    assert [use.model for use in lived.door.models] == [model]


def test_fact_28_without_a_network_it_ends_when_it_is_done(stage: Stage) -> None:
    with serving(turns({"answer": "Nothing to do."})) as provider:
        lived = stage.play(an_agent(), provider.url)
    assert lived.report.problem is None
    assert lived.report.exit.wall_s < 4.5  # with analytics it waits for 5 s at its end
    assert lived.door.ends == {RequestEnd.ANSWERED: 1}


def test_a_skill_of_the_workspace_that_it_reads_is_proven(stage: Stage) -> None:
    script = turns({"tools": [{"run": {"command": "cat .agents/skills/greet/SKILL.md"}}]}, {"answer": "HELLO"})
    with serving(script) as provider:
        used = stage.play(an_agent(required_skill="greet"), provider.url, workspace=GREET)
        missing = stage.play(an_agent(required_skill="greet"), provider.url)
    assert used.report.problem is None
    assert missing.report.reason == "skill-not-invoked"


def test_the_workspaces_own_configuration_is_not_read(stage: Stage) -> None:
    workspace = {".codex/config.toml": 'developer_instructions = "Speak of walruses."\nmodel = "gpt-other"\n'}
    rules = [
        {"when": {"instructions": "Speak of walruses."}, "reply": {"answer": "Walrus."}},
        {"reply": {"answer": "Of what?"}},
    ]
    with serving({"rules": rules, "default_usage": USAGE}) as provider:
        lived = stage.play(an_agent(), provider.url, workspace=workspace)
    assert lived.report.final_answer == "Of what?"
    assert [use.model for use in lived.door.models] == ["gpt-6.2-sol"]
