"""The two ends of the gateway's bench, each a process of its own: a provider that answers at once, and an open door.

python ops/bench/gateway_ends.py provide PORT
python ops/bench/gateway_ends.py gate PORT FOLDER
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import cast

from farm.adapters.system_clock import SystemClock
from farm.model import Wire
from worker.gateway import Gateway, Pass, Purse, Upstream

_USAGE = {"input_tokens": 3000, "cache_read_input_tokens": 44000, "cache_creation_input_tokens": 1000}
_WHOLE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "bench",
    "content": [{"type": "text", "text": "word " * 20}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {**_USAGE, "output_tokens": 20},
}
EVENTS = (
    {"type": "message_start", "message": {**_WHOLE, "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}} for _ in range(20)),
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 20},
    },
    {"type": "message_stop"},
)


def _chunk(raw: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(raw), raw)


_BODY = json.dumps(_WHOLE).encode()
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
_STREAM = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    + b"".join(_chunk(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode()) for each in EVENTS)
    + b"0\r\n\r\n"
)


class _Provider(asyncio.Protocol):
    """Answers each request at once, and streams where it is asked to; a request is read as far as its length."""

    def __init__(self) -> None:
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._held += data
        head, mark, rest = self._held.partition(b"\r\n\r\n")
        if not mark:
            return
        lower = head.lower()
        _, found, length = lower.partition(b"content-length:")
        size = int(length.split(b"\r\n", 1)[0]) if found else 0
        if len(rest) >= size:
            self._held = rest[size:]
            is_stream = b'"stream": true' in rest or b'"stream":true' in rest
            self._transport.write(_STREAM if is_stream else _ANSWER)


async def _provide(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(_Provider, "127.0.0.1", port, backlog=256)
    await server.serve_forever()


def _gate(port: int, folder: Path) -> None:
    """Hold a door open until SIGTERM."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    gateway = Gateway(SystemClock())
    upstream = Upstream("bench", frozenset({Wire.ANTHROPIC}), f"http://127.0.0.1:{port}", "sk-bench-not-a-secret")
    with gateway.open(folder / "door", (os.getuid(), os.getgid()), Pass(upstream, (), Purse(None, None))):
        signal.sigwait({signal.SIGTERM})
    gateway.close()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["provide", at]:
            asyncio.run(_provide(int(at)))
        case ["gate", to, where]:
            _gate(int(to), Path(where))
