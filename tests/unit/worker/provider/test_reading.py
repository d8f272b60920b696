"""What is read of real agents' requests: who said what, which turn it is, which tools there are."""

from typing import Any

import pytest

from farm.model import Wire
from worker.provider.answer import UnreadableError
from worker.provider.asked import Asked, Form, Speaker
from worker.provider.dialects import DIALECTS, wire_of

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}}
TURN_TWO: dict[Wire, Any] = {
    Wire.ANTHROPIC: {
        "model": "m1",
        "stream": True,
        "system": [{"type": "text", "text": "Be good."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Fix it."}, {"type": "text", "text": "Please."}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "bash", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "the secret"}]},
            {"role": "system", "content": "Be quick."},
            {"role": "assistant", "content": "Working"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t2", "name": "bash", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "the secret"}]},
        ],
        "tools": [{"name": "bash", "input_schema": SCHEMA}],
    },
    Wire.RESPONSES: {
        "model": "m1",
        "stream": True,
        "instructions": "Be good.",
        "input": [
            {
                "type": "additional_tools",
                "tools": [
                    {
                        "type": "namespace",
                        "name": "functions",
                        "tools": [
                            {"type": "custom", "name": "exec"},
                        ],
                    }
                ],
            },
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be quick."}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it."}]},
            {"role": "user", "content": "Please."},
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Working"}]},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"},
            {"type": "function_call", "call_id": "c2", "name": "bash", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "the secret"},
            {"type": "function_call_output", "call_id": "c2", "output": "the secret"},
            {"type": "custom_tool_call", "call_id": "c3", "name": "exec", "input": "x"},
            {"type": "custom_tool_call_output", "call_id": "c3", "output": "the secret"},
        ],
        "tools": [{"type": "function", "name": "bash", "parameters": SCHEMA}, {"type": "web_search"}],
    },
    Wire.CHAT: {
        "model": "m1",
        "stream": True,
        "messages": [
            {"role": "system", "content": "Be good."},
            {"role": "developer", "content": [{"type": "text", "text": "Be quick."}]},
            {"role": "user", "content": "Fix it.\nPlease."},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}, {"id": "c2"}]},
            {"role": "tool", "tool_call_id": "c1", "content": "the secret"},
            {"role": "tool", "tool_call_id": "c2", "content": "the secret"},
            {"role": "assistant", "content": "Working", "tool_calls": [{"id": "c3"}]},
            {"role": "tool", "tool_call_id": "c3", "content": "the secret"},
        ],
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}],
    },
    Wire.GEMINI: {
        "systemInstruction": {"parts": [{"text": "Be good."}, {"text": "Be quick."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Fix it."}, {"text": "Please."}]},
            {"role": "model", "parts": [{"functionCall": {"name": "bash", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "bash", "response": {"output": "the secret"}}}]},
            {"role": "model", "parts": [{"text": "Working"}, {"functionCall": {"name": "bash", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "bash", "response": {"output": "the secret"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "bash", "parameters": SCHEMA}]}],
    },
}
PATHS = {
    Wire.ANTHROPIC: "/v1/messages",
    Wire.RESPONSES: "/v1/responses",
    Wire.CHAT: "/v1/chat/completions",
    Wire.GEMINI: "/v1beta/models/m1:streamGenerateContent",
}
ALL = pytest.mark.parametrize("wire", list(Wire))


def read(wire: Wire, **changes: Any) -> Asked:
    return DIALECTS[wire].read(PATHS[wire], {"alt": "sse"}, {**TURN_TWO[wire], **changes})


@ALL
def test_a_turn_is_an_answer_of_the_model_whatever_it_is_made_of(wire: Wire) -> None:
    assert read(wire).turn == 2


@ALL
def test_who_said_what_is_told_apart(wire: Wire) -> None:
    asked = read(wire)
    assert asked.text_of(Speaker.USER).split() == ["Fix", "it.", "Please."]
    assert asked.text_of(Speaker.INSTRUCTIONS).split() == ["Be", "good.", "Be", "quick."]
    assert asked.text_of(Speaker.MODEL).split() == ["Working"]


@ALL
def test_the_rest_is_read_too(wire: Wire) -> None:
    asked = read(wire)
    assert (asked.wire, asked.model, asked.is_streamed) == (wire, "m1", True)
    assert asked.tools["bash"].fields == SCHEMA["properties"]
    assert wire_of(PATHS[wire]) is wire


def test_tools_that_travel_as_input_are_found() -> None:
    asked = read(Wire.RESPONSES)
    assert set(asked.tools) == {"bash", "exec"}
    assert asked.tools["exec"].form is Form.TEXT


def test_input_may_be_mere_text() -> None:
    asked = read(Wire.RESPONSES, input="Fix it.")
    assert (asked.turn, asked.text_of(Speaker.USER)) == (0, "Fix it.")


@ALL
def test_a_conversation_that_is_none_is_refused(wire: Wire) -> None:
    (name,) = {"messages", "input", "contents"} & set(TURN_TWO[wire])
    with pytest.raises(UnreadableError, match=name):
        read(wire, **{name: 7})
