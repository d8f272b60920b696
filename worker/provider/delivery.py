"""The bytes of an answer, and where they stall or break."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from worker.provider.answer import Answer, Dialect, Frame, dumped
from worker.provider.asked import Asked
from worker.provider.script import Malformed, Refusal, Reply

_BROKEN = Refusal(status=500, message="the script breaks this answer off")


@dataclass(frozen=True, slots=True)
class Delivery:
    """A status, and a body in two parts: a stall is between them."""

    status: int
    media_type: str
    head: tuple[bytes, ...]
    tail: tuple[bytes, ...]
    length: int | None
    """What the headers promise; None for a stream."""
    is_cut: bool = False
    """The connection ends with the tail."""


def of_answer(dialect: Dialect, reply: Reply, answer: Answer, asked: Asked) -> Delivery:
    """Lay out an answer as it was asked for and as the script spoils it."""
    if asked.is_streamed:
        return _stream(dialect, reply, answer, asked)
    if reply.malformed is Malformed.ERROR:
        return of_error(dialect, reply.error or _BROKEN)
    body = dumped(dialect.whole(answer)).encode()
    half = len(body) // 2
    head, tail = body[:half], body[half:]
    if reply.malformed is Malformed.JSON:
        return Delivery(200, "application/json", (head,), (), half)
    is_cut = reply.malformed is Malformed.CUT
    return Delivery(200, "application/json", (head,), () if is_cut else (tail,), len(body), is_cut)


def of_error(dialect: Dialect, refusal: Refusal) -> Delivery:
    """Lay out an error."""
    if isinstance(refusal.body, str):
        body, media_type = refusal.body.encode(), "text/plain"
    else:
        given = dialect.error(refusal) if refusal.body is None else refusal.body
        body, media_type = dumped(given).encode(), "application/json"
    half = len(body) // 2
    return Delivery(refusal.status, media_type, (body[:half],), (body[half:],), len(body))


def in_pieces(bodies: Iterable[bytes], size: int | None) -> Iterator[bytes]:
    """Cut what comes into pieces of `size` bytes; None leaves it as it is."""
    if size is None:
        yield from (body for body in bodies if body)
        return
    whole = b"".join(bodies)
    yield from (whole[start : start + size] for start in range(0, len(whole), size))


def _stream(dialect: Dialect, reply: Reply, answer: Answer, asked: Asked) -> Delivery:
    frames = dialect.frames(answer, asked)
    at = min(len(frames) // 2 if reply.after_events is None else reply.after_events, len(frames))
    rest, is_cut = frames[at:], False
    match reply.malformed:
        case Malformed.JSON:
            rest = tuple(Frame(frame.data[: len(frame.data) // 2], frame.name) for frame in rest[:1])
        case Malformed.ERROR:
            rest = (dialect.error_frame(reply.error or _BROKEN),)
        case Malformed.CUT:
            rest, is_cut = rest[:1], True
        case None:
            pass
    pieces = _encoded((*frames[:at], *rest), dialect, asked)
    head, tail = pieces[:at], pieces[at:]
    if is_cut:
        tail = tuple(piece[: len(piece) // 2] for piece in tail[:1])
    return Delivery(200, "text/event-stream" if asked.is_sse else "application/json", head, tail, None, is_cut)


def _encoded(frames: tuple[Frame, ...], dialect: Dialect, asked: Asked) -> tuple[bytes, ...]:
    if asked.is_sse:
        return tuple(frame.encode(dialect.eol) for frame in frames)
    listed = tuple(f"{'[' if number == 0 else ','}{frame.data}".encode() for number, frame in enumerate(frames))
    return (*listed, b"]")
