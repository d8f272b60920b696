"""Looks at an answer while it passes: its usage is read, our key is looked for, and memory stays flat."""

from collections.abc import Iterator
from dataclasses import dataclass

from farm.model import RequestEnd, Wire
from worker.gateway.coding import CodingError, decoder
from worker.gateway.events import EventReader
from worker.gateway.meters import Seen, end_answer, read_event, read_whole

_SHORTEST_SECRET = 8
"""A shorter key is a placeholder, and would be found by chance."""
_MOST_DECODED = 1 << 30
"""Of one compressed answer: what would be more is no answer, but an attack on our time."""


class KeyShownError(Exception):
    """The provider's bytes hold our key."""


class KeyGuard:
    """Looks for our key in bytes that come in chunks."""

    def __init__(self, key: str) -> None:
        self._key = key.encode() if len(key) >= _SHORTEST_SECRET else b""
        self._tail = b""

    def check(self, chunk: bytes) -> None:
        """Take the next chunk; KeyShownError when the key ends in it."""
        if not self._key:
            return
        over = len(self._key) - 1
        if self._key in chunk or self._key in self._tail + chunk[:over]:
            raise KeyShownError
        self._tail = (self._tail + chunk[-over:])[-over:]


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """What an answer's head says about its body, and whether its usage is ours alone to see."""

    wire: Wire
    content_type: str
    encoding: str
    hides_usage: bool

    @property
    def is_stream(self) -> bool:
        return self.content_type.partition(";")[0].strip().lower() == "text/event-stream"

    @property
    def is_edited(self) -> bool:
        """Say whether an event is taken out; not out of what we'd have to encode again."""
        return self.hides_usage and self.is_stream and self.encoding.strip().lower() in {"", "identity"}


class AnswerReader:
    """One answer of a provider, chunk by chunk: what goes in comes out, but for an event of usage that is hidden."""

    def __init__(self, head: AnswerHead, seen: Seen, guard: KeyGuard, most_bytes: int) -> None:
        self.head = head
        self._seen = seen
        self._guard = guard
        self._most_bytes = most_bytes
        self._decoder = decoder(head.encoding, _MOST_DECODED)
        self._events = EventReader(most_bytes) if head.is_stream else None
        self._whole = bytearray()
        self.problem: str | None = None
        """Why the answer, or the rest of it, is not read."""
        if self._decoder is None:
            self.problem = f"an answer in the encoding {head.encoding[:40]!r} can't be read"

    def feed(self, chunk: bytes) -> bytes:
        """Read the next chunk and give what is to be passed on."""
        self._guard.check(chunk)
        if self.problem is not None or self._decoder is None:
            return chunk
        passed = []
        try:
            for plain in self._decoder.feed(chunk):
                passed += [raw for raw in self._read(plain) if self.head.is_edited]
        except CodingError as error:
            self._give_up(str(error))
            return chunk
        return b"".join(passed) if self.head.is_edited else chunk

    def finish(self) -> bytes:
        """Read what is left when the answer has ended, and give what is still to be passed on."""
        if self.problem is not None or self._decoder is None:
            return b""
        try:
            self._decoder.finish()
        except CodingError as error:
            self._give_up(str(error))
            return b""
        if self._events is None:
            read_whole(self.head.wire, bytes(self._whole), self._seen)
            end_answer(self.head.wire, self._seen)
            return b""
        if self._events.has_skipped:
            self.problem = f"an event of more than {self._most_bytes} bytes was not read"
        passed = [piece.raw for piece in self._events.finish() if not self._is_hidden(piece.data)]
        end_answer(self.head.wire, self._seen)
        return b"".join(passed) if self.head.is_edited else b""

    @property
    def end(self) -> RequestEnd:
        """How the answer ended, given that its connection did not break."""
        seen = self._seen
        if seen.failure is not None:
            return seen.failure
        if self.problem is not None and not seen.is_malformed:
            return RequestEnd.ANSWERED
        return RequestEnd.ANSWERED if seen.is_complete and not seen.is_malformed else RequestEnd.MALFORMED

    def _read(self, plain: bytes) -> Iterator[bytes]:
        if self._events is not None:
            yield from (piece.raw for piece in self._events.feed(plain) if not self._is_hidden(piece.data))
            return
        self._whole += plain
        if len(self._whole) > self._most_bytes:
            self._whole.clear()
            self.problem = f"an answer of more than {self._most_bytes} bytes is not read"

    def _is_hidden(self, data: bytes | None) -> bool:
        """Read an event; say whether it exists only because we asked for the usage."""
        if data is None:
            return False
        had = self._seen.is_final
        read_event(self.head.wire, data, self._seen)
        return self.head.is_edited and self._seen.is_final and not had and data.strip() != b"[DONE]"

    def _give_up(self, problem: str) -> None:
        self.problem = problem
        self._seen.is_malformed = True
        self._seen.is_final = False
