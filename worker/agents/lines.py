"""A stream of JSON lines from a guest: split, bounded and strict."""

from pydantic import JsonValue

from farm.model import MIB
from farm.redaction import first_words
from worker.agents.tail import one_line
from worker.documents import DocumentError, one_document

MOST_LINE_BYTES = 8 * MIB
"""As long as the whole of a session's output by default: a tool's answer may stand in one line."""
_MOST_READ = 2000
_MOST_SHOWN = 200


class JsonLines:
    """Cuts bytes into JSON objects, one a line; after a fault the rest is dropped, and `problem` says why."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._number = 0
        self.problem: str | None = None

    def feed(self, chunk: bytes) -> tuple[dict[str, JsonValue], ...]:
        """Take the next bytes; return the events that they complete."""
        if self.problem is not None:
            return ()
        head, found, rest = chunk.rpartition(b"\n")
        events: tuple[dict[str, JsonValue], ...] = ()
        if found:
            events = self._events((self._rest + head).split(b"\n"))
            self._rest = bytearray()
        self._rest += rest
        if len(self._rest) > MOST_LINE_BYTES:
            self._refuse_length(self._number + 1)
        return events

    def close(self) -> tuple[dict[str, JsonValue], ...]:
        """Return the last event, when the stream ended without a line feed."""
        rest, self._rest = bytes(self._rest), bytearray()
        return self._events([bytearray(rest)]) if self.problem is None else ()

    def _events(self, lines: list[bytearray]) -> tuple[dict[str, JsonValue], ...]:
        events: list[dict[str, JsonValue]] = []
        for line in lines:
            self._number += 1
            if len(line) > MOST_LINE_BYTES:
                self._refuse_length(self._number)
                break
            if not line.strip():
                continue
            event = self._event(bytes(line))
            if event is None:
                break
            events.append(event)
        return tuple(events)

    def _event(self, line: bytes) -> dict[str, JsonValue] | None:
        try:
            event = one_document(line)
        except DocumentError as error:
            self.problem = f"line {self._number} is not JSON: {error}; it begins: {_beginning(line)}"
            return None
        if not isinstance(event, dict):
            self.problem = f"line {self._number} is no JSON object"
            return None
        return event

    def _refuse_length(self, number: int) -> None:
        self.problem = self.problem or f"line {number} is longer than {MOST_LINE_BYTES} bytes"


def _beginning(line: bytes) -> str:
    text = line[: 4 * _MOST_READ + 4].decode(errors="replace")
    return first_words(one_line(first_words(text, _MOST_READ)), _MOST_SHOWN)
