"""What passes of an agent's headers, and how long a provider asks us to wait."""

from datetime import UTC, datetime

import pytest

from worker.gateway.headers import request_headers, retry_after_s

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("milliseconds", "stated", "expected"),
    [
        (None, None, None),
        (None, "7", 7.0),
        (None, " 7.5 ", 7.5),
        (None, "0", 0.0),
        (None, "-1", None),
        (None, "nan", None),
        (None, "inf", None),
        (None, "soon", None),
        (None, "", None),
        (None, "1e9", 86_400.0),
        (None, "Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        (None, "Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        (None, "Mon, 30 Nov 2026 12:00:30", None),
        (None, "Mon, 99 Nov 2026 12:00:30 GMT", None),
        ("1500", None, 1.5),
        ("1500", "7", 1.5),
        ("x", "7", 7.0),
    ],
)
def test_a_wait_is_read_or_unknown(milliseconds, stated, expected):
    assert retry_after_s(milliseconds, stated, NOW) == expected


AGENTS = [
    ("Accept", "application/json"),
    ("accept", "text/event-stream, */*;q=0.1"),
    ("User-Agent", "claude-cli/2.1.332 (external, sdk-cli)"),
    ("anthropic-version", "2023-06-01"),
    ("anthropic-beta", "context-management-2025-06-27"),
    ("X-Stainless-Retry-Count", "0"),
    ("x-codex-turn-metadata", "{}"),
    ("originator", "codex_exec"),
]


def test_what_agents_say_of_themselves_passes_as_it_is():
    assert request_headers(AGENTS) == AGENTS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OpenAI-Project", "p"),
        ("OpenAI-Organization", "o"),
        ("x-goog-user-project", "p"),
        ("X-HTTP-Method-Override", "DELETE"),
        ("X-Forwarded-Host", "evil.example"),
        ("Forwarded", "host=evil.example"),
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("Accept", "application/x-protobuf"),
        ("Accept", "application/json, application/x-protobuf"),
        ("X-Anything", "1"),
        ("Authorization", "Bearer x"),
        ("Transfer-Encoding", "chunked"),
        ("Cookie", "a=b"),
    ],
)
def test_what_could_change_where_or_how_a_request_is_read_stays_behind(name, value):
    assert request_headers([(name, value)]) == []


def test_what_connection_names_stays_behind():
    assert request_headers([("Connection", "close, X-App"), ("X-App", "cli")]) == []
