"""What the provider was asked, in full but for keys: a key's value is replaced by its digest."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl, urlencode

from pydantic import JsonValue

from farm.model import Digest, Wire
from worker.provider.bodies import unpacked

_KEYS = {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"}
_KEY_PARAMETER = "key"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request, and what it was answered."""

    at: datetime
    method: str
    path: str
    """With its query."""
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes
    """As it came."""
    status: int
    wire: Wire | None = None
    """None: it asked no model."""
    model: str | None = None
    turn: int | None = None
    rule: str | None = None
    """None: no rule was for it."""

    def line(self) -> str:
        """Give one line of JSON."""
        document: JsonValue = {
            "at": self.at.isoformat(),
            "method": self.method,
            "path": self.path,
            "headers": dict(self.headers),
            "body": _readable(self.body, self.headers.get("content-encoding")),
            "body_digest": Digest.of(self.body),
            "status": self.status,
            "wire": self.wire,
            "model": self.model,
            "turn": self.turn,
            "rule": self.rule,
        }
        return json.dumps(document, ensure_ascii=False)


def safe_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Give headers by lower-case name, keys replaced."""
    return {name.lower(): _safe(value) if name.lower() in _KEYS else value for name, value in headers}


def safe_path(path: str, query: str) -> str:
    """Give a path with its query, keys replaced."""
    if not query:
        return path
    if _KEY_PARAMETER not in query:
        return f"{path}?{query}"
    pairs = parse_qsl(query, keep_blank_values=True)
    return f"{path}?{urlencode([(name, _safe(value) if name == _KEY_PARAMETER else value) for name, value in pairs])}"


def digest_of_key(key: str) -> str:
    """Give what stands in a record in a key's place."""
    return f"sha256:{Digest.of(key.encode())}"


def _safe(value: str) -> str:
    scheme, space, key = value.rpartition(" ")
    return f"{scheme}{space}{digest_of_key(key)}"


def _readable(body: bytes, encoding: str | None) -> JsonValue:
    try:
        found: JsonValue = json.loads(unpacked(body, encoding))
    except ValueError:
        return body.decode(errors="replace")
    return found
