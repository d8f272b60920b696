"""The redactor, and the hunt for what may stand in one text."""

from collections.abc import Iterable

from farm.redaction.hunt import Hunt, a_hunt, has_secret_names
from farm.redaction.shapes import MARK, SHAPES
from farm.redaction.spellings import Spelling, bare, spellings

_LEAST_SECRET = 8
"""Shorter texts would be found everywhere."""


class Redactor:
    """Takes secrets out. May learn more while it is in use."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: tuple[Spelling, ...] = ()
        """The longest first: one may be a part of another."""
        for secret in secrets:
            self.learn(secret)

    def learn(self, secret: str) -> None:
        """Take `secret` out from now on; a text of less than eight characters is none, nor is a part of our mark."""
        if len(secret) >= _LEAST_SECRET and secret not in MARK:
            known = {*self._known, *spellings(secret)}
            self._known = tuple(sorted(known, key=lambda one: (-len(one.text), one.text)))

    def text(self, text: str) -> str:
        """Redact plain text."""
        hunt = self._hunt(text)
        return text if hunt is None else hunt.text(text)

    def body(self, body: bytes) -> bytes:
        """Redact bytes: string by string where they are JSON, whole or line by line, else as text."""
        text = body.decode("utf-8", "surrogateescape")
        hunt = self._hunt(text)
        return body if hunt is None else hunt.body(text).encode("utf-8", "surrogateescape")

    def _hunt(self, text: str) -> Hunt | None:
        """Say what may stand in `text`, escaped or not; None: nothing."""
        plain = bare(text)
        known = tuple(
            one for one in self._known if one.text in text or one.text in plain or (not one.is_simple and "\\u" in text)
        )
        lowered = text.lower() if plain == text else f"{text}\n{plain}".lower()
        shapes = tuple(shape for shape in SHAPES if shape.is_near(lowered))
        has_names = has_secret_names(lowered)
        return a_hunt(known, shapes, has_names=has_names) if known or shapes or has_names else None
