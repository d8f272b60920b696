"""Which headers pass, and what they say about waiting."""

import math
from collections.abc import Iterable
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TypeAlias, assert_never

from farm.model import Wire

Header: TypeAlias = tuple[str, str]

_HOP = {
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
_PASSED = {
    "anthropic-beta",
    "anthropic-version",
    "conversation_id",
    "openai-beta",
    "originator",
    "session-id",
    "session_id",
    "thread-id",
    "user-agent",
    "x-app",
    "x-claude-code-session-id",
    "x-client-request-id",
    "x-goog-api-client",
    "x-session-affinity",
    "x-session-id",
}
"""What agents say of themselves and of the form of what they ask. Nothing that names a project, an account, a host or
another method."""
_PASSED_FAMILIES = ("x-codex-", "x-stainless-")
_ACCEPTED = {"*/*", "application/json", "text/event-stream"}
"""The forms of an answer that can be metered."""
_MOST_WAIT_S = 86_400.0


def request_headers(given: Iterable[Header]) -> list[Header] | None:
    """Keep what the provider should see of an agent's headers; None when one of them is not plain text."""
    headers = list(given)
    if not all(_is_plain(value) for _, value in headers):
        return None
    dropped = _named_by_connection(headers)
    return [(name, value) for name, value in headers if name.lower() not in dropped and _passes(name.lower(), value)]


def _passes(name: str, value: str) -> bool:
    if name == "accept":
        return all(form.partition(";")[0].strip().lower() in _ACCEPTED for form in value.split(","))
    return name in _PASSED or name.startswith(_PASSED_FAMILIES)


def key_header(wire: Wire, key: str) -> list[Header]:
    """Say how a wire carries its key."""
    if not key:
        return []
    match wire:
        case Wire.ANTHROPIC:
            return [("x-api-key", key)]
        case Wire.RESPONSES | Wire.CHAT:
            return [("Authorization", f"Bearer {key}")]
        case Wire.GEMINI:
            return [("x-goog-api-key", key)]
        case _:
            assert_never(wire)


def answer_headers(given: Iterable[Header], key: str, most_wait_s: float, now: datetime) -> list[Header]:
    """Keep what an agent may see of its provider's headers: no key, no cookie and no long wait, which are ours."""
    headers = list(given)
    dropped = _HOP | {"content-length", "set-cookie"} | _named_by_connection(headers)
    return [
        (name, value)
        for name, value in headers
        if name.lower() not in dropped
        and not (key and key in value)
        and _is_plain(value)
        and _wait_s(name.lower(), value, now) <= most_wait_s
    ]


def _wait_s(name: str, value: str, now: datetime) -> float:
    """Say how long a header asks to wait; what can't be read, an agent may read as for ever."""
    match name:
        case "retry-after":
            stated = retry_after_s(None, value, now)
        case "retry-after-ms":
            stated = retry_after_s(value, None, now)
        case _:
            return 0
    return math.inf if stated is None else stated


def retry_after_s(milliseconds: str | None, stated: str | None, now: datetime) -> float | None:
    """Read how long the provider asks us to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    exact = _number(milliseconds)
    if exact is not None:
        return min(exact / 1000, _MOST_WAIT_S)
    seconds = _number(stated)
    if seconds is None and stated is not None:
        seconds = _until(stated, now)
    return None if seconds is None else min(seconds, _MOST_WAIT_S)


def _until(date: str, now: datetime) -> float | None:
    try:
        then = parsedate_to_datetime(date)
        return max((then - now).total_seconds(), 0.0)
    except (ValueError, TypeError, OverflowError):  # TypeError: a date without a zone
        return None


def _number(stated: str | None) -> float | None:
    try:
        found = float(stated) if stated is not None else math.nan
    except ValueError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def _named_by_connection(headers: list[Header]) -> set[str]:
    return {name.strip().lower() for key, value in headers if key.lower() == "connection" for name in value.split(",")}


def _is_plain(value: str) -> bool:
    return value.isascii() and all(char.isprintable() or char == "\t" for char in value)
