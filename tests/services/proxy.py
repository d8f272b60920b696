"""An HTTP proxy in front of an S3 server that does, or undoes, what a bad network or a bad server would."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from typing_extensions import override

_OURS = {"connection", "transfer-encoding", "expect"}


@dataclass
class Exchange:
    """One request; a trick may change it, answer it, or cut its connection."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    status: int | None = None
    """Set by a trick that answers by itself."""
    answer: bytes = b""
    is_cut: bool = False
    """Set by a trick: the server gets the request, and the client no answer."""
    is_dropped: bool = False
    """Set by a trick: nobody gets anything."""
    is_truncated: bool = False
    """Set by a trick: the client gets half of the answer's body."""


Trick = Callable[[Exchange], None]


class Proxy(ThreadingHTTPServer):
    """A running proxy in front of the loopback port `upstream_port`; `trick` sees each request first."""

    def __init__(self, upstream_port: int, trick: Trick, host: str) -> None:
        super().__init__((host, 0), _Relay)
        self.upstream_port = upstream_port
        self.trick = trick

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away: it was killed, or cut off."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Relay(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def relay(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _OURS}
        exchange = Exchange(self.command, self.path, headers, body)
        self.server.trick(exchange)
        if exchange.status is not None:
            self._reply(exchange.status, {}, exchange.answer)
            return
        if exchange.is_dropped:
            self.close_connection = True
            return
        upstream = HTTPConnection("127.0.0.1", self.server.upstream_port, timeout=30)
        try:
            upstream.request(exchange.method, exchange.path, exchange.body, exchange.headers)
            response = upstream.getresponse()
            answer = response.read()
        except (OSError, HTTPException):  # there is no server now
            self.close_connection = True
            return
        finally:
            upstream.close()
        self.close_connection = self.close_connection or exchange.is_cut or exchange.is_truncated
        if not exchange.is_cut:
            kept = len(answer) // 2 if exchange.is_truncated else len(answer)
            self._reply(response.status, dict(response.getheaders()), answer, kept)

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = relay  # noqa: N815 (http.server's names)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (http.server's name)
        pass

    def _reply(self, status: int, headers: dict[str, str], body: bytes, kept: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in {*_OURS, "content-length", "date", "server"}:
                self.send_header(name, value)
        length = headers.get("Content-Length", "0") if self.command == "HEAD" else str(len(body))
        self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:kept])


@contextmanager
def a_proxy(upstream_port: int, trick: Trick, host: str = "127.0.0.1") -> Iterator[Proxy]:
    """Run a proxy while the block runs."""
    with Proxy(upstream_port, trick, host) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
