"""What of a guest's request reaches LiteLLM."""

import json
from pathlib import Path

import pytest

from farm.model import Wire
from worker.translator.asking import Target, arguments_of, target_of

ASKED = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi."}]}


def test_what_the_wire_knows_is_passed_on_and_what_would_steer_litellm_is_not() -> None:
    steering = {
        "api_base": "http://127.0.0.1:9",
        "api_key": "x",
        "context_management": {"edits": []},
        "custom_llm_provider": "anthropic",
        "fallbacks": ["other"],
        "mcp_servers": [{"url": "http://127.0.0.1:9"}],
        "mock_response": "x",
    }
    known = {"stream": True, "system": "Be brief.", "tools": [], "thinking": {"type": "adaptive"}}
    body = json.dumps({**ASKED, **known, **steering}).encode()
    assert arguments_of(Wire.RESPONSES, body) == {**ASKED, **known, "model": "openai/m"}


def test_a_model_with_a_slash_in_its_name_keeps_it() -> None:
    asked = {**ASKED, "model": "openai/gpt-oss-20b"}
    assert arguments_of(Wire.CHAT, json.dumps(asked).encode())["model"] == "hosted_vllm/openai/gpt-oss-20b"


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"model": "m", "messages": []}', b'{"model": 1, "max_tokens": 1}'])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"max_tokens|Expecting"):
        arguments_of(Wire.RESPONSES, body)


def test_a_path_names_the_wire_and_the_door() -> None:
    assert target_of("/chat/%2Fa%2Fdoor%201/v1/messages") == Target(Wire.CHAT, Path("/a/door 1"))


@pytest.mark.parametrize(
    "path", ["/v1/messages", "/chat/v1/messages", "/gemini/%2Fa/v1/messages", "/chat/%2Fa/v1/messages/count_tokens"]
)
def test_other_paths_lead_nowhere(path: str) -> None:
    assert target_of(path) is None
