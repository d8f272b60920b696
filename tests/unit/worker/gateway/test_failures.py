"""Whose fault a provider's error is."""

import json

import pytest

from farm.model import RequestEnd
from farm.redaction import Redactor
from worker.gateway.failures import end_of_error, end_of_told, read_error, read_error_body

DENIED, REJECTED = RequestEnd.DENIED, RequestEnd.REJECTED


def anthropic(kind, message="no"):
    return {"type": "error", "error": {"type": kind, "message": message}}


def openai(code, message="no", kind="invalid_request_error"):
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def gemini(status, message="no", *reasons):
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason} for reason in reasons]
    return {"error": {"code": 400, "message": message, "status": status, "details": details}}


@pytest.mark.parametrize(
    ("status", "body", "end"),
    [
        (400, anthropic("invalid_request_error", "messages.0: bad"), REJECTED),
        (
            400,
            anthropic("invalid_request_error", "Your credit balance is too low to access it."),
            DENIED,
        ),
        (400, anthropic("invalid_request_error", "messages.0: Your credit balance is too low"), REJECTED),
        (401, anthropic("authentication_error"), DENIED),
        (401, {}, DENIED),
        (402, anthropic("billing_error"), DENIED),
        (402, openai(402, "Insufficient credits"), DENIED),
        (403, anthropic("permission_error"), DENIED),
        (403, anthropic("forbidden"), REJECTED),
        (403, openai("unsupported_country_region_territory"), DENIED),
        (403, openai(None, "flagged by moderation"), REJECTED),
        (403, gemini("PERMISSION_DENIED", "You do not have permission to access the File x"), REJECTED),
        (403, gemini("PERMISSION_DENIED", "no", "SERVICE_DISABLED"), DENIED),
        (400, gemini("INVALID_ARGUMENT", "no", "API_KEY_INVALID"), DENIED),
        (400, [gemini("INVALID_ARGUMENT", "no", "API_KEY_INVALID")], DENIED),
        (400, gemini("INVALID_ARGUMENT", "no"), REJECTED),
        (429, openai("insufficient_quota", "You exceeded your quota", "insufficient_quota"), DENIED),
        (429, openai("rate_limit_exceeded"), RequestEnd.RATE_LIMITED),
        (429, gemini("RESOURCE_EXHAUSTED"), RequestEnd.RATE_LIMITED),
        (404, "<html>nothing here", DENIED),
        (404, anthropic("not_found_error", "File not found"), REJECTED),
        (404, anthropic("not_found_error", "model: m"), DENIED),
        (404, openai("model_not_found"), DENIED),
        (404, gemini("NOT_FOUND", "models/m is not found for API version v1beta"), DENIED),
        (500, anthropic("authentication_error"), RequestEnd.UNAVAILABLE),
    ],
)
def test_an_error_is_the_hosts_only_where_the_provider_says_so(status, body, end):
    said = read_error_body(json.dumps(body).encode() if not isinstance(body, str) else body.encode())
    assert end_of_error(status, said, is_pinned=True) is end


def test_a_model_that_the_agent_chose_is_its_own_mistake():
    for body in (openai("model_not_found"), anthropic("not_found_error", "model: m")):
        assert end_of_error(404, read_error_body(json.dumps(body).encode()), is_pinned=False) is REJECTED


@pytest.mark.parametrize(
    ("error", "end"),
    [
        ({"type": "overloaded_error"}, RequestEnd.UNAVAILABLE),
        ({"type": "rate_limit_error"}, RequestEnd.RATE_LIMITED),
        ({"code": "insufficient_quota"}, DENIED),
        ({"type": "authentication_error"}, DENIED),
        ({"code": "invalid_prompt"}, REJECTED),
        ("what", REJECTED),
        (None, REJECTED),
    ],
)
def test_an_error_in_an_answer_is_told_by_its_words(error, end):
    assert end_of_told(read_error(error)) is end


def test_a_message_is_cut_without_leaving_a_part_of_a_secret() -> None:
    token = "sk-ant-api03-" + "a1B2" * 10
    for before in range(190, 260):
        text = f"{'x' * before} {token} more words"
        for said in (read_error({"message": text}), read_error(text), read_error_body(text.encode())):
            assert "a1B2" not in Redactor().text(said.message or "")
