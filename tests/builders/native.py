"""One usage as each wire's provider states it: 3000 ordinary, 44000 read, 1000 written, 120 out, 40 of it thought."""

from farm.model import TokenUse, Wire
from tests.builders.raw_provider import answer, stream

ANTHROPIC_USAGE = {
    "input_tokens": 3000,
    "cache_read_input_tokens": 44000,
    "cache_creation_input_tokens": 1000,
    "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 0},
    "output_tokens": 120,
}
RESPONSES_USAGE = {
    "input_tokens": 48000,
    "input_tokens_details": {"cached_tokens": 44000, "cache_write_tokens": 1000},
    "output_tokens": 120,
    "output_tokens_details": {"reasoning_tokens": 40},
    "total_tokens": 48120,
}
CHAT_USAGE = {
    "prompt_tokens": 48000,
    "prompt_tokens_details": {"cached_tokens": 44000},
    "completion_tokens": 120,
    "completion_tokens_details": {"reasoning_tokens": 40},
    "total_tokens": 48120,
}
GEMINI_USAGE = {
    "promptTokenCount": 48000,
    "cachedContentTokenCount": 44000,
    "candidatesTokenCount": 80,
    "thoughtsTokenCount": 40,
    "totalTokenCount": 48120,
}
TOKENS = {
    Wire.ANTHROPIC: TokenUse(
        whole=48000, ordinary_input=3000, cache_read=44000, cache_write=1000, cache_write_1h=0, output=120
    ),
    Wire.RESPONSES: TokenUse(
        whole=48000, ordinary_input=3000, cache_read=44000, cache_write=1000, output=120, reasoning=40
    ),
    Wire.CHAT: TokenUse(whole=48000, ordinary_input=4000, cache_read=44000, cache_write=0, output=120, reasoning=40),
    Wire.GEMINI: TokenUse(whole=48000, ordinary_input=4000, cache_read=44000, cache_write=0, output=120, reasoning=40),
}
ASKED = "model-asked"
ANSWERED = "model-answered"
PATHS = {
    Wire.ANTHROPIC: "/v1/messages",
    Wire.RESPONSES: "/v1/responses",
    Wire.CHAT: "/v1/chat/completions",
    Wire.GEMINI: f"/v1beta/models/{ASKED}:generateContent",
}
STREAM_PATHS = PATHS | {Wire.GEMINI: f"/v1beta/models/{ASKED}:streamGenerateContent?alt=sse"}
KEY_HEADERS = {
    Wire.ANTHROPIC: ("x-api-key", "{}"),
    Wire.RESPONSES: ("authorization", "Bearer {}"),
    Wire.CHAT: ("authorization", "Bearer {}"),
    Wire.GEMINI: ("x-goog-api-key", "{}"),
}

CHAT_CHUNK = {"id": "r-1", "model": ANSWERED, "choices": [{"delta": {"content": "hi"}}], "usage": None}
CHAT_LAST = {"id": "r-1", "model": ANSWERED, "choices": [], "usage": CHAT_USAGE}
DONE = b"data: [DONE]\n\n"
_GEMINI_PART = {"modelVersion": ANSWERED, "responseId": "r-1", "candidates": [{"content": {}}]}

WHOLE = {
    Wire.ANTHROPIC: {"type": "message", "id": "r-1", "model": ANSWERED, "usage": ANTHROPIC_USAGE},
    Wire.RESPONSES: {
        "object": "response",
        "id": "r-1",
        "model": ANSWERED,
        "status": "completed",
        "usage": RESPONSES_USAGE,
    },
    Wire.CHAT: {"id": "r-1", "model": ANSWERED, "choices": [{"message": {}}], "usage": CHAT_USAGE},
    Wire.GEMINI: {
        **_GEMINI_PART,
        "candidates": [{"content": {}, "finishReason": "STOP"}],
        "usageMetadata": GEMINI_USAGE,
    },
}
EVENTS = {
    Wire.ANTHROPIC: (
        {
            "type": "message_start",
            "message": {"id": "r-1", "model": ANSWERED, "usage": {**ANTHROPIC_USAGE, "output_tokens": 1}},
        },
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi \N{SNOWMAN}"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 120}},
        {"type": "message_stop"},
    ),
    Wire.RESPONSES: (
        {"type": "response.created", "response": {"id": "r-1", "model": ANSWERED, "usage": None}},
        {"type": "response.output_text.delta", "delta": "hi"},
        {"type": "response.completed", "response": WHOLE[Wire.RESPONSES]},
    ),
    Wire.CHAT: (CHAT_CHUNK, CHAT_LAST, DONE),
    Wire.GEMINI: (
        {**_GEMINI_PART, "usageMetadata": {"promptTokenCount": 48000, "totalTokenCount": 48000}},
        WHOLE[Wire.GEMINI],
    ),
}


def asking(wire, *, streams=False, **more):
    """Give a request's body."""
    if wire is Wire.GEMINI:
        return {"contents": [], **more}
    stream_ = {"stream": True} if streams else {}
    wants = {"stream_options": {"include_usage": True}} if streams and wire is Wire.CHAT else {}
    return {"model": ASKED, **stream_, **wants, **more}


def whole(wire):
    """Write a whole answer."""
    return answer(WHOLE[wire])


def streamed(wire):
    """Write a streamed one."""
    return stream(*EVENTS[wire])
