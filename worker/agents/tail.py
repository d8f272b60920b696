"""The last words of a guest's output, for the sentence that says why it failed."""

_MOST_BYTES = 2000
_MOST_CHARS = 500


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
        return one_line(self._kept.decode(errors="replace"))[-_MOST_CHARS:] or None


def one_line(text: str) -> str:
    """Put text into one line that a record can hold."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def beginning(text: str | None) -> str | None:
    """Give the first part of a message, in one line."""
    return (one_line(text)[:_MOST_CHARS] or None) if text is not None else None
