"""One session's door, in the gateway's thread: what may pass is sent on, and all else is answered here.

The guest on the other side is hostile: whatever it sends costs a bounded part of memory and time, and it reaches the
provider by the generation paths alone.
"""

import asyncio
import logging
import math
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus

import aiohttp
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from typing_extensions import override

from farm.model import RequestEnd
from farm.ports import Clock
from worker.gateway.asking import Asked, read_body
from worker.gateway.dialects import error_body
from worker.gateway.exchange import Errand, Exchange
from worker.gateway.headers import request_headers
from worker.gateway.ledger import MOST_MODELS, OURS, Ledger
from worker.gateway.passing import ClientGoneError, Passage, Passed
from worker.gateway.purse import OverBudget
from worker.gateway.relay import Relay
from worker.gateway.routes import LocalAnswer, Route, dialect_of, route_of
from worker.gateway.values import OnPressure, Pass, Patience

_BACKLOG = 128
_MOST_FIELD = 16384
_MOST_HEADERS = 100
_LINGER_S = 2.0
"""How long what is left of a refused body is read, so that the agent reads why."""
_PRESSURE = {RequestEnd.RATE_LIMITED, RequestEnd.UNAVAILABLE, RequestEnd.STALLED, RequestEnd.CUT, RequestEnd.DENIED}


def _is_ours(record: logging.LogRecord) -> bool:
    """Say whether a server's error is a bug: what a guest sends in the place of HTTP is none."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError | ConnectionError)


_log = logging.getLogger(__name__)
_log.addFilter(_is_ours)


@dataclass(frozen=True, slots=True)
class Desk:
    """What the doors of one gateway share."""

    client: aiohttp.ClientSession
    patience: Patience
    clock: Clock


class _Callers(web.Server):
    """The connections of one session, and no more of them than it needs."""

    def __init__(self, answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], patience: Patience) -> None:
        super().__init__(
            answer,
            handler_cancellation=True,
            access_log=None,
            logger=_log,
            auto_decompress=False,
            keepalive_timeout=patience.client_s,
            tcp_keepalive=False,
            lingering_time=_LINGER_S,
            max_line_size=_MOST_FIELD,
            max_field_size=_MOST_FIELD,
            max_headers=_MOST_HEADERS,
        )
        self._most = patience.most_connections

    @override
    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        if len(self.connections) > self._most:
            transport.abort()


class Door:
    """Serves one session, from `open` until `close`."""

    def __init__(self, desk: Desk, pass_: Pass, on_pressure: OnPressure) -> None:
        self.ledger = Ledger(pass_, desk.patience.most_log_bytes)
        self._patience = desk.patience
        self._clock = desk.clock
        self._pass = pass_
        self._on_pressure = on_pressure
        self._relay = Relay(desk.client, desk.clock, Passage(pass_, desk.patience, self.ledger, desk.clock))
        self._running: dict[Exchange, asyncio.Task[object]] = {}
        self._held_bytes = 0
        self._callers = _Callers(self._serve, desk.patience)
        self._server: asyncio.Server | None = None

    async def open(self, listener: socket.socket) -> None:
        """Take callers."""
        self._server = await asyncio.get_running_loop().create_server(self._callers, sock=listener, backlog=_BACKLOG)

    async def close(self) -> None:
        """Hang up on every caller, and wait until their requests are entered."""
        if self._server is not None:
            self._server.close()
        for connection in self._callers.connections:
            if connection.transport is not None:
                connection.transport.abort()
        for task in self._running.values():
            task.cancel()
        if self._running:
            await asyncio.wait(self._running.values(), timeout=self._patience.close_s)
        for exchange in tuple(self._running):
            self._finish(exchange, None)

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        target = request.raw_path
        exchange = Exchange(request.method, target.partition("?")[0], self._clock.now())
        task = asyncio.current_task()
        if task is not None:
            self._running[exchange] = task
        told: Passed | LocalAnswer | None = None
        try:
            told = await self._told(request, exchange)
        except ClientGoneError:
            _hang_up(request)
        finally:
            self._finish(exchange, told)
        match told:
            case Passed(is_cut=True):
                if request.transport is not None:
                    request.transport.close()
                return told.response
            case Passed():
                return told.response
            case LocalAnswer():
                return self._local(request, exchange, told)
            case None:
                return web.Response()  # nobody is there to read it

    def _finish(self, exchange: Exchange, told: Passed | LocalAnswer | None) -> None:
        """Enter a request's end: None when the agent has hung up."""
        if self._running.pop(exchange, None) is None:
            return
        end = self._end_without(exchange) if told is None else told.end
        if end is None:
            return
        if isinstance(told, LocalAnswer):
            exchange.detail = exchange.detail or told.message
            exchange.status = told.status if exchange.status is None and not exchange.was_sent else exchange.status
        self.ledger.enter(exchange, end, self._clock.now())
        if end in _PRESSURE:
            self._on_pressure(end, exchange.retry_after_s)

    def _end_without(self, exchange: Exchange) -> RequestEnd:
        """Say how a request ended whose agent hung up, or whose session ended."""
        if exchange.seen.is_final and exchange.seen.is_complete:
            return RequestEnd.ANSWERED  # it had all
        if exchange.is_slow:
            return RequestEnd.SLOW_READER
        silent_s = 0.0 if exchange.waits_since is None else self._clock.monotonic() - exchange.waits_since
        if silent_s < self._patience.stall_s:
            return RequestEnd.CLIENT_GONE
        exchange.detail = f"the provider had been silent for {silent_s:.0f} s when the agent or its session ended"
        return RequestEnd.STALLED

    async def _told(self, request: web.BaseRequest, exchange: Exchange) -> Passed | LocalAnswer:
        if "websocket" in request.headers.get("Upgrade", "").lower():
            return LocalAnswer(HTTPStatus.UPGRADE_REQUIRED, "no upgrade of the connection here: ask by plain HTTP")
        route = route_of(request.method, request.raw_path, self._pass.upstream.wires)
        if isinstance(route, LocalAnswer):
            return route
        exchange.wire = route.wire
        headers = request_headers(request.headers.items())
        if headers is None:
            return LocalAnswer(HTTPStatus.BAD_REQUEST, "a header is not plain text", RequestEnd.REFUSED)
        try:
            body = await self._body(request, exchange)
            asked = body if isinstance(body, LocalAnswer) else self._asked(route, body, request, exchange)
            if isinstance(asked, LocalAnswer):
                return asked
            return await self._relay.send(request, Errand(route, asked, headers, exchange))
        finally:
            self._held_bytes -= exchange.held_bytes

    async def _body(self, request: web.BaseRequest, exchange: Exchange) -> bytes | LocalAnswer:
        """Read the body, or say why not."""
        patience, body = self._patience, bytearray()
        if (request.content_length or 0) > patience.most_body_bytes:
            return _too_large(patience)
        if request.headers.get("Expect", "").lower() == "100-continue" and request.transport is not None:
            request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            async with asyncio.timeout(patience.client_s):
                async for chunk in request.content.iter_any():
                    body += chunk
                    exchange.held_bytes += len(chunk)
                    self._held_bytes += len(chunk)
                    if len(body) > patience.most_body_bytes or self._held_bytes > patience.most_held_bytes:
                        return _too_large(patience)
        except web.RequestPayloadError:
            return LocalAnswer(HTTPStatus.BAD_REQUEST, "the body is not what its head says", RequestEnd.REFUSED)
        except (TimeoutError, ConnectionError) as error:
            raise ClientGoneError from error
        return bytes(body)

    def _asked(self, route: Route, body: bytes, request: web.BaseRequest, exchange: Exchange) -> Asked | LocalAnswer:
        """Read what is asked and reserve what it may use, or say why not."""
        encoding = ", ".join(request.headers.getall("Content-Encoding", []))
        asked = read_body(route, body, encoding, self._patience.most_body_bytes)
        if isinstance(asked, LocalAnswer):
            return asked
        exchange.asked = asked
        allowed = self._pass.models
        if allowed and any(model not in allowed for model in asked.models):
            message = f"the model {asked.model!r} is not one of those that this session may ask: {', '.join(allowed)}"
            return LocalAnswer(HTTPStatus.BAD_REQUEST, message, RequestEnd.REFUSED)
        if not self.ledger.has_room_for(asked.model):
            message = f"this session has asked {MOST_MODELS} different models: no more"
            return LocalAnswer(HTTPStatus.BAD_REQUEST, message, RequestEnd.REFUSED)
        hold = self._pass.purse.reserve(asked.bound)
        if isinstance(hold, OverBudget):
            return LocalAnswer(HTTPStatus.BAD_REQUEST, hold.reason, RequestEnd.OVER_BUDGET)
        exchange.hold = hold
        return asked

    def _local(self, request: web.BaseRequest, exchange: Exchange, told: LocalAnswer) -> web.Response:
        """Write our own answer as the wire would."""
        headers = {"Content-Type": "application/json"}
        if told.end in OURS:
            headers["x-should-retry"] = "false"
        wait_s = exchange.retry_after_s
        if wait_s is not None and wait_s <= self._patience.most_told_wait_s:
            headers["retry-after"] = str(math.ceil(wait_s))
        if told.status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = "POST"
        wire = exchange.wire or dialect_of(request.raw_path, self._pass.upstream.wires)
        is_error = told.status >= HTTPStatus.BAD_REQUEST
        body = error_body(wire, told.status, told.message) if is_error else b"{}"
        return web.Response(status=told.status, headers=headers, body=body)


def _hang_up(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()


def _too_large(patience: Patience) -> LocalAnswer:
    message = (
        f"the body is too large: {patience.most_body_bytes} bytes pass, and {patience.most_held_bytes} of all the"
        " session's requests at one time"
    )
    return LocalAnswer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message, RequestEnd.TOO_LARGE)
