"""A sink's share of one stream."""

from collections.abc import Iterable

from sandbox.spec import Sink, Stream


class Capped:
    """Passes on at most `cap` bytes of one stream."""

    def __init__(self, stream: Stream, sink: Sink, cap: int) -> None:
        self.is_over_cap = False
        self.stream = stream
        self._sink, self._left = sink, cap

    def pass_on(self, chunk: bytes) -> None:
        """Give the sink what it may still have."""
        if len(chunk) > self._left:
            self.is_over_cap = True
        allowed, self._left = chunk[: self._left], max(0, self._left - len(chunk))
        if allowed:
            self._sink(self.stream, allowed)


def over_cap(outputs: Iterable[Capped]) -> tuple[Stream, ...]:
    """Name the outputs of which the sink did not get all."""
    return tuple(one.stream for one in outputs if one.is_over_cap)
