"""How a secret that we know may be spelled, and texts without their escapes."""

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from farm.redaction.shapes import MARK

_SIMPLE = re.compile(r"[ !#-\[\]-~]+")
_MOST_ROUNDS = 3
# However many backslashes stand before it, for JSON inside JSON. A quotation mark and a backslash stay escaped: what
# was JSON is JSON without these escapes, too.
_ESCAPE = re.compile(r"(?<!\\)\\++(?:u00(?!22|5[cC]|7[fF])([2-7][0-9A-Fa-f])|/)")


@dataclass(frozen=True, slots=True)
class Spelling:
    """One text that gives a secret away."""

    text: str
    mark: str = MARK

    @property
    def is_simple(self) -> bool:
        """Say whether `bare` shows it wherever its letters are escaped."""
        return _SIMPLE.fullmatch(self.text) is not None


def spellings(secret: str) -> Iterator[Spelling]:
    """Spell `secret` as it is, percent-encoded, in JSON, in base64 wherever it starts in there, and in UTF-16."""
    coded = secret.encode("utf-8", "surrogatepass")
    yield Spelling(secret)
    yield Spelling(quote(coded, safe=""))
    yield Spelling(json.dumps(secret)[1:-1])
    yield Spelling(json.dumps(secret, ensure_ascii=False)[1:-1])
    for text in _base64(coded):
        yield Spelling(text)
        yield Spelling(text.replace("+", "-").replace("/", "_"))
    if secret.isascii():
        yield Spelling("\0".join(secret), "\0".join(MARK))  # in both orders of its bytes
    else:
        for order in ("utf-16-le", "utf-16-be"):
            wide = secret.encode(order, "surrogatepass").decode("utf-8", "surrogateescape")
            yield Spelling(wide, MARK.encode(order).decode())


def bare(text: str) -> str:
    r"""Give `text` with its escaped letters, digits and signs of ASCII (`\u0041`, `\/`) as themselves."""
    for _ in range(_MOST_ROUNDS):
        if "\\u00" not in text and "\\/" not in text:
            break
        shorter = _ESCAPE.sub(_letter, text)
        if len(shorter) == len(text):
            break
        text = shorter
    return text


def _letter(found: re.Match[str]) -> str:
    code = found.group(1)
    return "/" if code is None else chr(int(code, 16))


def _base64(coded: bytes) -> Iterator[str]:
    """Give what of the base64 depends on `coded` only, for each place in a group of three at which it may start."""
    yield base64.b64encode(coded).decode().rstrip("=")
    for place, foreign in enumerate((0, 2, 3)):
        text = base64.b64encode(b"\0" * place + coded).decode()
        last = 0 if (place + len(coded)) % 3 == 0 else 1
        text = text.rstrip("=")
        yield text[foreign : len(text) - last]
