"""A sandbox without network does not end at its provider."""

import pytest

from farm.model import Wire
from worker.gateway.reaching import reaching

A, R, C, G = Wire.ANTHROPIC, Wire.RESPONSES, Wire.CHAT, Wire.GEMINI


def content(*parts):
    return {"messages": [{"role": "user", "content": list(parts)}]}


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        (A, {"tools": [{"name": "x", "input_schema": {}}, {"type": "web_search_20250305", "name": "web_search"}]}),
        (A, {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]}),
        (A, {"tools": [{"type": "code_execution_20250825", "name": "x"}]}),
        (A, {"tools": [{"type": "advisor_20260301", "name": "advisor", "model": "other"}]}),
        (A, {"tools": [{"name": "x", "input_schema": {}, "model": "other"}]}),
        (A, {"tools": [{"type": "mcp_toolset", "mcp_server_name": "x"}]}),
        (A, {"mcp_servers": [{"type": "url", "url": "https://x"}]}),
        (A, {"MCP_Servers": [{"type": "url", "url": "https://x"}]}),
        (A, {"container": {"skills": []}}),
        (A, content({"type": "document", "source": {"type": "url", "url": "https://x/y.pdf"}})),
        (A, content({"type": "image", "source": {"type": "file", "file_id": "f"}})),
        (A, content({"type": "tool_result", "content": [{"type": "image", "source": {"type": "url", "url": "u"}}]})),
        (A, content({"type": "container_upload", "file_id": "f"})),
        (R, {"tools": [{"type": "web_search"}]}),
        (R, {"tools": [{"type": "file_search", "vector_store_ids": ["v"]}]}),
        (R, {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]}),
        (R, {"tools": [{"type": "mcp", "server_url": "https://x"}]}),
        (R, {"tools": [{"type": "computer_use_preview"}]}),
        (R, {"tools": [{"type": "shell", "environment": {"type": "container_auto"}}]}),
        (R, {"tools": [{"type": "namespace", "name": "x", "tools": [{"type": "web_search"}]}]}),
        (R, {"tools": [{}]}),
        (R, {"input": [{"type": "additional_tools", "tools": [{"type": "web_search"}]}]}),
        (R, {"input": [{"type": "item_reference", "id": "msg_1"}]}),
        (R, {"input": [{"id": "msg_1"}]}),
        (R, {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}),
        (R, {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "https://x"}]}]}),
        (R, {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "https://x"}]}]}),
        (R, {"input": [{"role": "user", "content": [{"type": "input_image", "File_Id": "f"}]}]}),
        (R, {"previous_response_id": "r"}),
        (R, {"conversation": "c"}),
        (R, {"prompt": {"id": "p"}}),
        (R, {"background": True}),
        (C, {"web_search_options": {"search_context_size": "low"}}),
        (C, {"tools": [{"type": "openrouter:web_search"}]}),
        (C, {"plugins": [{"id": "web"}]}),
        (C, content({"type": "image_url", "image_url": {"url": "https://x"}})),
        (C, content({"type": "file", "file": {"file_id": "f"}})),
        (G, {"tools": [{"functionDeclarations": []}, {"googleSearch": {}}]}),
        (G, {"tools": {"google_search": {}}}),
        (G, {"tools": [{"function_declarations": [], "code_execution": {}}]}),
        (G, {"tools": [{"urlContext": {}}]}),
        (G, {"contents": [{"parts": [{"fileData": {"fileUri": "https://x"}}]}]}),
        (G, {"contents": {"parts": {"file_data": {"file_uri": "https://x"}}}}),
        (G, {"cachedContent": "cachedContents/x"}),
        (G, {"cached_content": "cachedContents/x"}),
    ],
)
def test_what_a_provider_would_run_fetch_or_remember_is_found(wire, body):
    assert reaching(wire, body) is not None


SCHEMA = {"type": "object", "properties": {"file_id": {"type": "string"}, "url": {}, "model": {}}}
CALL = {"file_id": "f", "source": {"type": "url"}, "tools": [{"type": "web_search"}], "image_url": "https://x"}


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        (
            A,
            {"tools": [{"input_schema": SCHEMA}, {"type": "custom", "name": "y", "input_schema": SCHEMA}]},
        ),
        (A, {"tools": [{"type": "bash_20250124", "name": "bash"}, {"type": "text_editor_20250728", "name": "e"}]}),
        (A, {"mcp_servers": [], "container": None, "metadata": {"user_id": "{}"}}),
        (A, content({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}})),
        (A, content({"type": "tool_use", "id": "t", "name": "x", "input": CALL})),
        (A, content({"type": "tool_result", "tool_use_id": "t", "content": "file_id: https://x"})),
        (A, {"system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]}),
        (R, {"tools": [{"type": "function", "name": "x", "parameters": SCHEMA}, {"type": "custom", "name": "y"}]}),
        (R, {"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "function", "parameters": SCHEMA}]}]}),
        (R, {"tools": [{"type": "tool_search", "execution": "client"}, {"type": "local_shell"}]}),
        (R, {"input": [{"type": "additional_tools", "tools": [{"type": "function", "parameters": SCHEMA}]}]}),
        (R, {"input": "x", "previous_response_id": None, "background": False, "store": False}),
        (R, {"input": [{"type": "function_call", "id": "f", "call_id": "c", "name": "x", "arguments": "{}"}]}),
        (
            R,
            {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:x;base64,A"}]}]},
        ),
        (C, {"tools": [{"type": "function", "function": {"name": "x", "parameters": SCHEMA}}]}),
        (C, content({"type": "image_url", "image_url": {"url": "data:image/png;base64,A"}})),
        (G, {"tools": [{"functionDeclarations": [{"name": "x", "parametersJsonSchema": SCHEMA}]}]}),
        (G, {"contents": [{"parts": [{"functionCall": {"name": "x", "args": CALL}}]}]}),
        (G, {"contents": [{"parts": [{"functionResponse": {"name": "x", "response": CALL}}]}]}),
        (G, {"contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}]}]}),
    ],
)
def test_what_an_agent_runs_and_sends_itself_passes(wire, body):
    assert reaching(wire, body) is None
