"""A provider of bytes: what a test writes is what goes over the wire, and what came is kept as it came.

It shares nothing with the scripted provider: here an answer may break every rule of HTTP.
"""

import asyncio
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Asked:
    """A request as it came."""

    line: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name):
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(found) <= 1, found
        return found[0] if found else None


@dataclass
class RawProvider:
    """Gives its replies in turn, the last one for ever: bytes, or a coroutine function that writes them."""

    replies: list
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    hung_up: int = 0
    url: str = ""

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            while (asked := await _request(reader)) is not None:
                self.asked.append(asked)
                reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
                if isinstance(reply, bytes):
                    writer.write(reply)
                    await writer.drain()
                else:
                    await reply(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.hung_up += 1
        except asyncio.CancelledError:
            pass  # the test is over
        finally:
            writer.close()


async def _request(reader):
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    line, *rest = head.decode("latin-1").split("\r\n")[:-2]
    headers = [tuple(each.split(": ", 1)) for each in rest]
    size = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    return Asked(line, headers, await reader.readexactly(size))


@contextmanager
def providing(*replies):
    """Serve `replies` on the loopback, in a thread of its own."""
    provider = RawProvider(list(replies))
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    stop = asyncio.Event()

    async def main():
        server = await asyncio.start_server(provider.serve, "127.0.0.1", 0, limit=1 << 26)
        provider.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        await stop.wait()
        server.close()

    def run():
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(main())

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(10)
    try:
        yield provider
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)


def answer(body, *headers, status="200 OK", content_type="application/json"):
    """Write a whole answer."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", f"Content-Length: {len(raw)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + raw


def stream(*events, end=b"0\r\n\r\n", headers=()):
    """Write an event stream in chunks, one an event; a dict is written as its JSON, bytes as they stand."""
    head = ["HTTP/1.1 200 OK", "Content-Type: text/event-stream; charset=utf-8", "Transfer-Encoding: chunked", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + b"".join(chunk(sse(event)) for event in events) + end


def sse(event):
    """Write one event."""
    if isinstance(event, bytes):
        return event
    name = f"event: {event['type']}\n".encode() if "type" in event else b""
    return name + b"data: " + json.dumps(event).encode() + b"\n\n"


def chunk(raw):
    """Write one chunk of a body."""
    return b"%x\r\n%b\r\n" % (len(raw), raw)
