from typing import Any

import pytest

from farm.model import Wire
from worker.provider.asked import Asked, Offered, Said, Speaker
from worker.provider.choice import Rules, applies, nobody_answers
from worker.provider.script import Script, When


def an_asked(prompt: str = "Fix the bug", *, answers: int = 0, **changes: Any) -> Asked:
    turns = [Said(Speaker.MODEL), Said(Speaker.MODEL), Said(Speaker.TOOL), Said(Speaker.TOOL)] * answers
    said = (Said(Speaker.INSTRUCTIONS, "Be good."), Said(Speaker.USER, prompt), *turns)
    fields = {"wire": Wire.CHAT, "model": "gpt-6-mini", "is_streamed": True, "said": said, "tools": {}}
    return Asked(**{**fields, **changes})


@pytest.mark.parametrize(
    "when",
    [
        {},
        {"prompt": "the bug"},
        {"prompt": ["Fix", "bug"], "instructions": "good"},
        {"wire": "chat"},
        {"wire": ["gemini", "chat"]},
        {"model": "gpt-6-*"},
        {"model": ["claude-*", "gpt-*"]},
        {"turn": 2},
        {"turn": [0, 2]},
        {"streamed": True},
        {"offers_tools": False},
    ],
)
def test_it_applies(when: dict[str, Any]) -> None:
    assert applies(When.model_validate(when), an_asked(answers=2))


@pytest.mark.parametrize(
    "when",
    [
        {"prompt": "Be good"},
        {"prompt": ["Fix", "cat"]},
        {"instructions": "Fix"},
        {"wire": "anthropic"},
        {"model": "gpt-6"},
        {"turn": 0},
        {"turn": [1, 3]},
        {"streamed": False},
        {"offers_tools": True},
        {"prompt": "the bug", "turn": 1},
    ],
)
def test_it_does_not_apply(when: dict[str, Any]) -> None:
    assert not applies(When.model_validate(when), an_asked(answers=2))


def test_tools_that_are_offered_are_seen() -> None:
    asked = an_asked(tools={"bash": Offered("bash", {})})
    assert applies(When(offers_tools=True), asked)


def chosen(rules: Rules, asked: Asked) -> tuple[str, str | None]:
    choice = rules.choose(asked)
    assert choice is not None
    return choice.rule, choice.reply.text


def test_the_first_rule_that_applies_is_used_and_named() -> None:
    script = {
        "rules": [
            {"when": {"prompt": "cat"}, "reply": {"text": "1"}},
            {"when": {"prompt": "bug"}, "reply": {"text": "2"}},
            {"name": "rest", "reply": {"text": "3"}},
        ]
    }
    rules = Rules(Script.model_validate(script))
    assert chosen(rules, an_asked("bug and cat")) == ("rules[0]", "1")
    assert chosen(rules, an_asked("a bug")) == ("rules[1]", "2")
    assert chosen(rules, an_asked("a dog")) == ("rest", "3")


def test_a_rule_with_times_applies_so_often() -> None:
    script = {"rules": [{"times": 2, "reply": {"text": "no"}}, {"reply": {"text": "yes"}}]}
    rules = Rules(Script.model_validate(script))
    assert [chosen(rules, an_asked())[1] for _ in range(4)] == ["no", "no", "yes", "yes"]


def test_only_requests_that_a_rule_applies_to_are_counted() -> None:
    script = {"rules": [{"times": 1, "when": {"turn": 1}, "reply": {"text": "no"}}, {"reply": {"text": "yes"}}]}
    rules = Rules(Script.model_validate(script))
    assert [chosen(rules, an_asked(answers=turn))[1] for turn in (0, 1, 1)] == ["yes", "no", "yes"]


def test_turns_are_taken_by_the_conversation_and_the_last_stays() -> None:
    script = {"rules": [{"turns": [{"text": "a"}, {"text": "b"}]}]}
    rules = Rules(Script.model_validate(script))
    assert [chosen(rules, an_asked(answers=turn))[1] for turn in (1, 0, 3, 2, 0)] == ["b", "a", "b", "b", "a"]


def test_a_request_without_a_rule_is_described() -> None:
    assert (
        Rules(Script.model_validate({"rules": [{"when": {"turn": 7}, "reply": {"text": "x"}}]})).choose(an_asked())
        is None
    )
    said = nobody_answers(an_asked("x" * 500, answers=1))
    assert "wire chat, model 'gpt-6-mini', turn 1, 0 tools, prompt '…xx" in said
    assert len(said) < 400
