"""What may stand in one body, taken out of all its parts.

JSON is read string by string and never as a whole: an escape hides nothing, a key that stands twice hides nothing, it
stays JSON, and what it costs grows with its length, whatever a guest makes of it.
"""

import json
import re
from dataclasses import dataclass

from farm.redaction.shapes import MARK, Shape
from farm.redaction.spellings import Spelling, bare

SECRET_NAMES = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "set-cookie"}
    | {"api_key", "apikey", "access_token", "refresh_token", "client_secret", "secret_key", "password"}
)
_FIELDS = tuple(f'"{name}"' for name in sorted(SECRET_NAMES))
_LEAST_TEXT = 7
"""No secret and no shape is shorter."""

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
# What consists of JSON's words and signs; whether they stand in its order does not matter here.
_JSON = re.compile(
    r"\s*+(?:data:[ \t]*+)?[{\[]"
    rf"(?:[\s{{}}\[\]:,0-9.eE+\-]++|{_STRING.pattern}|true|false|null|NaN|Infinity)*+",
    re.DOTALL,
)
_JSON_LINE = re.compile(r"^[ \t]*+(?:data:[ \t]*+)?[{\[].*+$", re.MULTILINE)
_ESCAPED_LINE = re.compile(r"^(?=[^\n]{7})[^\n\\]*+\\[^\n]*+", re.MULTILINE)
_NUMBER = re.compile(r"[0-9.eE+\-]++")
_DECODER = json.JSONDecoder(strict=False)


def has_secret_names(lowered: str) -> bool:
    """Say whether a field with a secret's name may be in a text in lower case."""
    return any(field in lowered for field in _FIELDS)


def a_hunt(known: tuple[Spelling, ...], shapes: tuple[Shape, ...], *, has_names: bool) -> "Hunt":
    """Make ready to look for all this."""
    anchors = {anchor for shape in shapes for anchor in shape.anchors} | set(_FIELDS if has_names else ())
    words = (*(re.escape(one.text) for one in known), *(f"(?i:{re.escape(anchor)})" for anchor in sorted(anchors)))
    return Hunt(known, shapes, has_names, re.compile("|".join((r"\\", *words))))


@dataclass(frozen=True, slots=True)
class Hunt:
    """What has to be looked for; the rest is known not to be there."""

    known: tuple[Spelling, ...]
    shapes: tuple[Shape, ...]
    has_names: bool
    near: re.Pattern[str]
    """Finds a backslash, and all that may be the start of something to take out: one look at a short text."""

    def text(self, text: str) -> str:
        """Redact plain text; a line in which only an escape hid a secret is given without such escapes."""
        if len(text) < _LEAST_TEXT:
            return text
        text = self._plain(text)
        if "\\" not in text:
            return text
        plain = bare(text)
        return text if plain == text or self._plain(plain) == plain else _ESCAPED_LINE.sub(self._unescaped, text)

    def body(self, text: str) -> str:
        """Redact what may be JSON, whole or line by line."""
        whole = self._json(text)
        return self._lines(text) if whole is None else whole

    def _lines(self, text: str) -> str:
        pieces: list[str] = []
        end = 0
        for found in _JSON_LINE.finditer(text):
            line = found.group()
            clean = self._json(line) if self._is_near(line) else None
            if clean is not None:
                pieces += (self.text(text[end : found.start()]), clean)
                end = found.end()
        pieces.append(self.text(text[end:]))
        return self._without_known("".join(pieces))  # what runs over several lines

    def _is_near(self, text: str) -> bool:
        return len(text) >= _LEAST_TEXT and self.near.search(text) is not None

    def _json(self, text: str) -> str | None:
        """Redact the strings of JSON, and nothing else of it; None when it is none."""
        if _JSON.fullmatch(text) is None:
            return None
        pieces: list[str] = []
        end = last_end = 0
        last = ""
        for found in _STRING.finditer(text):
            string = found.group()
            is_named = self.has_names and _is_secret_name(last) and text[last_end : found.start()].strip() == ":"
            clean = self._string(string, is_named=is_named)
            if clean != string:
                pieces += (text[end : found.start()], clean)
                end = found.end()
            last, last_end = string, found.end()
        pieces.append(text[end:])
        return self._between("".join(pieces))

    def _string(self, string: str, *, is_named: bool) -> str:
        content = string[1:-1]
        if is_named and content:
            return f'"{MARK}"'
        if not self._is_near(content):
            return string
        if "\\" in content:
            try:
                content = _DECODER.decode(string)
            except ValueError:
                return f'"{self.text(content)}"'
        clean = self.text(content)
        return string if clean == content else json.dumps(clean)

    def _between(self, text: str) -> str:
        """Take out of JSON, whose strings are clean, what is secret in its numbers, or runs over several strings."""
        if not any(one.text in text for one in self.known):
            return text
        return self._without_known(_NUMBER.sub(self._number, text))

    def _number(self, found: re.Match[str]) -> str:
        return f'"{MARK}"' if any(one.text in found.group() for one in self.known) else found.group()

    def _without_known(self, text: str) -> str:
        for one in self.known:
            if one.text in text:
                text = text.replace(one.text, one.mark)
        return text

    def _plain(self, text: str) -> str:
        text = self._without_known(text)
        lowered = text.lower()
        for shape in self.shapes:
            if shape.is_near(lowered):
                text = shape.take_out(text)
        return text

    def _unescaped(self, found: re.Match[str]) -> str:
        plain = bare(found.group())
        clean = self._plain(plain)
        return found.group() if clean == plain else clean


def _is_secret_name(string: str) -> bool:
    if len(string) > 200:  # noqa: PLR2004 (no such name is longer, however it is escaped)
        return False
    try:
        return str(_DECODER.decode(string)).lower() in SECRET_NAMES if string else False
    except ValueError:
        return False
