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
_OURS = {
    "accept-encoding",  # we ask for bytes that can be metered
    "api-key",
    "authorization",
    "content-encoding",
    "content-length",
    "cookie",
    "expect",
    "host",
    "x-api-key",
    "x-goog-api-key",
}
_MOST_WAIT_S = 86_400.0


def request_headers(given: Iterable[Header]) -> list[Header] | None:
    """Keep what the provider should see of an agent's headers; None when one of them can't be sent on."""
    headers = list(given)
    dropped = _HOP | _OURS | _named_by_connection(headers)
    kept = [(name, value) for name, value in headers if name.lower() not in dropped]
    return kept if all(_is_plain(value) for _, value in kept) else None


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


def answer_headers(given: Iterable[Header], key: str) -> list[Header]:
    """Keep what an agent may see of its provider's headers: neither our key, nor cookies that are ours."""
    headers = list(given)
    dropped = _HOP | {"content-length", "set-cookie"} | _named_by_connection(headers)
    return [
        (name, value)
        for name, value in headers
        if name.lower() not in dropped and not (key and key in value) and _is_plain(value)
    ]


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
