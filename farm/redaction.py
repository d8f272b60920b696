"""Redaction: no secret leaves a worker, in whatever text it stands. The one implementation; everything goes by it.

Two kinds of text are taken out: what we know to be secret (keys of providers and stores, also percent-encoded and in
base64), and what has the shape of a credential. JSON is redacted by structure: an escape hides nothing, and it stays
JSON. What is not redacted keeps its bytes, so that a digest of clean output is the digest of that output.
"""

import base64
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import quote

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MARK = "[redacted]"
_LEAST_SECRET = 8
"""Shorter texts would be found everywhere."""

_ALNUM = re.compile(r"[A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a kind of credential looks like."""

    anchors: tuple[str, ...]
    """Texts, one of which stands in every such credential, in lower case: to look for them is fast."""
    pattern: re.Pattern[str]
    """Its group `keep`, if it has one, only introduces the secret."""

    def is_near(self, lowered: str) -> bool:
        return any(anchor in lowered for anchor in self.anchors)

    def take_out(self, text: str) -> str:
        return self.pattern.sub(self._mark, text)

    def _mark(self, found: re.Match[str]) -> str:
        if "keep" in self.pattern.groupindex:
            return f"{found.group('keep')}{MARK}"
        is_inside_a_word = found.start() > 0 and _ALNUM.match(found.string, found.start() - 1) is not None
        return found.group() if is_inside_a_word else MARK


def _token(anchor: str, pattern: str) -> _Shape:
    return _Shape((anchor.lower(),), re.compile(pattern))


# Each pattern of a token begins with its literal text: the engine finds that quickly.
_SHAPES = (
    _token("sk-", r"sk-[A-Za-z0-9_-]{20,}"),  # Anthropic, OpenAI, OpenRouter
    _token("AIza", r"AIza[A-Za-z0-9_-]{35}"),  # Google
    *(_token(start, start + r"[A-Za-z0-9]{30,}") for start in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "hf_", "npm_")),
    _token("github_pat_", r"github_pat_[A-Za-z0-9_]{30,}"),
    _token("glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
    _token("pypi-", r"pypi-[A-Za-z0-9_-]{50,}"),
    *(_token(start, start + r"[A-Z0-9]{16}(?![A-Z0-9])") for start in ("AKIA", "ASIA")),  # AWS
    *(_token(start, start + r"[A-Za-z0-9-]{10,}") for start in ("xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-")),
    _token("eyJ", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),  # a signed token (JWT)
    _Shape(
        ("private key-----",),
        re.compile(
            r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----.*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\Z)", re.DOTALL
        ),
    ),
    _Shape(
        ("authorization",),
        re.compile(r"(?i)(?P<keep>authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+)[^\s\"'\\,;&]+"),
    ),
    _Shape(
        ("api-key", "security-token", "cookie"),
        re.compile(
            r"(?i)(?P<keep>(?:x-(?:goog-)?api-key|x-amz-security-token|\bapi-key|cookie)[\"']?\s*[:=]\s*[\"']?)"
            r"[^\s\"'\\,&]+"
        ),
    ),
    _Shape(("://",), re.compile(r"(?P<keep>://)[^\s/:@\"'\\]{0,256}:[^\s/@\"'\\]{1,256}(?=@)")),
)
_SECRET_NAMES = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "set-cookie"}
    | {"api_key", "apikey", "access_token", "refresh_token", "client_secret", "secret_key", "password"}
)
_SECRET_FIELDS = tuple(f'"{name}"' for name in sorted(_SECRET_NAMES))
_ESCAPES = ("\\u", "\\/")


class Redactor:
    """Takes secrets out. May learn more while it is in use."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: tuple[str, ...] = ()
        """The longest first: one may be a part of another."""
        for secret in secrets:
            self.learn(secret)

    def learn(self, secret: str) -> None:
        """Take `secret` out from now on; a text of less than eight characters is none."""
        if len(secret) < _LEAST_SECRET or secret in self._known:
            return
        coded = secret.encode("utf-8", "surrogatepass")
        spellings = (
            secret,
            quote(coded, safe=""),
            base64.b64encode(coded).decode().rstrip("="),
            json.dumps(secret)[1:-1],
            json.dumps(secret, ensure_ascii=False)[1:-1],
        )
        self._known = tuple(sorted({*self._known, *spellings}, key=lambda text: (-len(text), text)))

    def text(self, text: str) -> str:
        """Redact plain text."""
        for secret in self._known:
            if secret in text:
                text = text.replace(secret, MARK)
        lowered = text.lower()
        for shape in _SHAPES:
            if shape.is_near(lowered):
                text = shape.take_out(text)
        return text

    def document(self, value: Json) -> Json:
        """Redact a JSON value: every text in it, names of fields included, and what stands under a secret's name."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.document(one) for one in value]
            case dict():
                return {self.text(name): self._field(name, one) for name, one in value.items()}
            case _:
                return value

    def body(self, body: bytes) -> bytes:
        """Redact bytes: by structure where they are JSON, whole or line by line, else as text."""
        text = body.decode("utf-8", "surrogateescape")
        if not self._is_suspect(text):
            return body
        whole = self._json(text)
        if whole is None:
            whole = "".join(self._line(line) for line in text.splitlines(keepends=True))
            whole = self.text(whole)  # what runs over several lines
        return whole.encode("utf-8", "surrogateescape")

    def _is_suspect(self, text: str) -> bool:
        lowered = text.lower()
        return (
            any(escape in text for escape in _ESCAPES)
            or any(secret in text for secret in self._known)
            or any(shape.is_near(lowered) for shape in _SHAPES)
            or any(field in lowered for field in _SECRET_FIELDS)
        )

    def _line(self, line: str) -> str:
        if not self._is_suspect(line):
            return line
        content = line.rstrip("\r\n")
        document = self._json(content)
        return self.text(line) if document is None else document + line[len(content) :]

    def _json(self, text: str) -> str | None:
        """Redact an object or a list of JSON, keeping its spelling when nothing was secret; None when it is neither."""
        if not text.lstrip().startswith(("{", "[")):
            return None
        try:
            value = json.loads(text)
            redacted = self.document(value)
        except (ValueError, RecursionError):
            return None
        return text if redacted == value else json.dumps(redacted, separators=(",", ":"))

    def _field(self, name: str, value: Json) -> Json:
        if name.lower() in _SECRET_NAMES and isinstance(value, str) and value:
            return MARK
        return self.document(value)
