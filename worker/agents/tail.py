"""A guest's words in one bounded line: its last ones, for why it failed; its latest ones, for who watches."""

import json

from pydantic import JsonValue

from farm.redaction import first_words, last_words

_MOST_BYTES = 4000
_MOST_CHARS = 500
_MOST_PREVIEW = 4000
"""Far more than is shown: it is cut to that once its secrets are out."""


class Tail:
    """Keeps the end of what it is fed."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def feed(self, chunk: bytes) -> None:
        self._kept += chunk[-_MOST_BYTES:]
        del self._kept[:-_MOST_BYTES]

    @property
    def text(self) -> str | None:
        """The end in one line; None when nothing was said."""
        text = self._kept.decode(errors="replace")
        if len(self._kept) == _MOST_BYTES:
            text = last_words(text, len(text) - 1)  # its first word may have lost its beginning
        return last_words(one_line(text), _MOST_CHARS) or None


def one_line(text: str) -> str:
    """Put text into one line that a record can hold."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def beginning(text: str | None) -> str | None:
    """Give the first part of a message, in one line."""
    return (first_words(one_line(text), _MOST_CHARS) or None) if text is not None else None


def preview(*values: JsonValue) -> str:
    """Show what was just said or done: texts as they are, all else as JSON, in one short line."""
    words = (value if isinstance(value, str) else json.dumps(value) for value in values if value is not None)
    return first_words(one_line(" ".join(first_words(word, _MOST_PREVIEW) for word in words)), _MOST_PREVIEW)
