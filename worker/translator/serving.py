"""Answers Anthropic Messages by asking a door in its provider's wire: LiteLLM makes the one into the other."""

import asyncio
import hmac
import json
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

import httpx
import litellm
import openai
from aiohttp import web
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

from worker.translator.asking import Target, arguments_of, target_of

_SILENCE_S = 86_400.0
"""The doors on both sides have clocks of their own."""
_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_TOLD = ("retry-after", "retry-after-ms", "x-should-retry")
"""What a provider says about asking again."""
_SETTINGS = {"api_base": "http://door/v1", "api_key": "none", "drop_params": True, "max_retries": 0, "num_retries": 0}
"""To ask again is the agent's to decide; what the provider's wire has no word for is left out."""


@dataclass(slots=True)
class _Heard:
    """The last answer of the provider."""

    status: int = HTTPStatus.BAD_GATEWAY
    headers: dict[str, str] = field(default_factory=dict)

    async def take(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.headers = {name: response.headers[name] for name in _TOLD if name in response.headers}


class Front:
    """Serves whoever knows the key."""

    def __init__(self, key: str) -> None:
        self._key = key.encode()

    async def serve(self, listener: socket.socket, ready: int) -> None:
        """Take callers until the process ends; `ready` is told when the first can come."""
        server = web.Server(self._answer, handler_cancellation=True, access_log=None)
        taking = await asyncio.get_running_loop().create_server(server, sock=listener)
        os.write(ready, b"ready")
        os.close(ready)
        await taking.serve_forever()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if not hmac.compare_digest(request.headers.get("x-api-key", "").encode(), self._key):
            return _refusal(HTTPStatus.UNAUTHORIZED, "this is not a caller's key")
        target = target_of(request.rel_url.raw_path)
        if target is None:
            return _refusal(HTTPStatus.NOT_FOUND, "only /v1/messages is translated")
        try:
            arguments = arguments_of(target.wire, await request.read())
        except ValueError as error:
            return _refusal(HTTPStatus.BAD_REQUEST, str(error))
        heard = _Heard()
        async with _client(target, heard) as client:
            try:
                answer = await litellm.anthropic_messages(**arguments, **_SETTINGS, client=client, timeout=_SILENCE_S)
            except openai.APIError as error:  # LiteLLM's own all are; their status may be another than what was heard
                status = heard.status if heard.status >= HTTPStatus.BAD_REQUEST else HTTPStatus.BAD_GATEWAY
                return _refusal(status, str(error), heard.headers)
            if arguments.get("stream") is True:
                return await _poured(request, answer)
            return web.json_response(answer)


async def _poured(request: web.BaseRequest, events: AsyncIterator[bytes]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    async for event in events:
        await response.write(event)
    await response.write_eof()
    return response


@asynccontextmanager
async def _client(target: Target, heard: _Heard) -> AsyncIterator[AsyncHTTPHandler]:
    """Give what connects to the door: by way of its folder, which may be deeper than a socket's path is long."""
    folder = os.open(target.door.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        place = f"/proc/self/fd/{folder}/{target.door.name}"
        transport = httpx.AsyncHTTPTransport(uds=place, verify=False)  # no TLS here: to load its roots costs 20 ms
        handler = AsyncHTTPHandler(_SILENCE_S, {"response": [heard.take]}, transport=transport, follow_redirects=False)
        async with handler.client:
            yield handler
    finally:
        os.close(folder)


def _refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
    kind = _KINDS.get(status, "api_error")
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}})
    return web.Response(status=status, headers=headers, content_type="application/json", text=body)
