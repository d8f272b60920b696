"""The scripted provider: four wires on one port, answered from a script.

What must stay true: every request is recorded, with what it was answered; and nothing is answered that the script does
not say, but for what has to be said when it says nothing.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from aiohttp import web
from pydantic import JsonValue

from farm.model import Wire
from worker.provider.answer import Answer, Dialect, UnreadableError
from worker.provider.anthropic import Anthropic
from worker.provider.asked import Asked, mapping
from worker.provider.chat import Chat
from worker.provider.choice import Rules, nobody_answers
from worker.provider.delivery import Delivery, in_pieces, of_answer, of_error
from worker.provider.gemini import Gemini
from worker.provider.record import Recorded, safe_headers, safe_path
from worker.provider.responses import Responses
from worker.provider.script import DeclaredUsage, Refusal, Reply, Script, StallAt, Stop
from worker.provider.tools import NoToolError, in_terms_of

MOST_BODY_BYTES = 64 * 1024 * 1024
_DIALECTS: Mapping[Wire, Dialect] = {
    Wire.ANTHROPIC: Anthropic(),
    Wire.RESPONSES: Responses(),
    Wire.CHAT: Chat(),
    Wire.GEMINI: Gemini(),
}
_GOODBYE_S = 0.1
"""How long the end waits for answers that are still being sent."""

Record = Callable[[Recorded], None]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What one request is answered, and what is recorded of it."""

    delivery: Delivery
    headers: Mapping[str, str]
    reply: Reply
    asked: Asked | None = None
    rule: str | None = None


class Provider:
    """Answers requests from a script, on one event loop."""

    def __init__(self, script: Script, record: Record) -> None:
        self._script = script
        self._rules = Rules(script)
        self._record = record

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        body = await request.read()
        plan = self._plan(request, body)
        asked = plan.asked
        self._record(
            Recorded(
                at=datetime.now(UTC),
                method=request.method,
                path=safe_path(request.path, request.query_string),
                headers=safe_headers(request.headers.items()),
                body=body,
                status=plan.delivery.status,
                wire=None if asked is None else asked.wire,
                model=None if asked is None else asked.model,
                turn=None if asked is None else asked.turn,
                rule=plan.rule,
            )
        )
        return await self._send(request, plan)

    def _plan(self, request: web.Request, body: bytes) -> _Plan:
        wire = wire_of(request.path)
        if wire is None or request.method != "POST":
            return _probe(request, wire)
        dialect = _DIALECTS[wire]
        try:
            asked = dialect.read(request.path, request.query, mapping(json.loads(body)))
        except (ValueError, UnreadableError) as error:
            return _refused(dialect, Refusal(status=400, message=f"the body can't be read: {error}"))
        choice = self._rules.choose(asked)
        if choice is None:
            return replace(_refused(dialect, Refusal(status=400, message=nobody_answers(asked))), asked=asked)
        try:
            plan = self._said(dialect, choice.reply, asked)
        except NoToolError as error:
            plan = _refused(dialect, Refusal(status=400, message=f"{choice.rule}: {error}"))
        return replace(plan, asked=asked, rule=choice.rule)

    def _said(self, dialect: Dialect, reply: Reply, asked: Asked) -> _Plan:
        if reply.error is not None:
            return replace(_refused(dialect, reply.error), reply=reply)
        calls = tuple(in_terms_of(asked.tools, act) for act in reply.tools)
        key = secrets.token_hex(12)
        usage = reply.usage if "usage" in reply.model_fields_set else self._script.default_usage
        answer = Answer(
            key=key,
            created=int(datetime.now(UTC).timestamp()),
            model=reply.model or asked.model,
            text=reply.text,
            calls=calls,
            stop=reply.stop or (Stop.TOOLS if calls else Stop.DONE),
            usage=None if usage is None else _native(dialect, usage, asked.wire),
        )
        headers = {"request-id": f"req_{key}", "x-request-id": f"req_{key}"}
        return _Plan(of_answer(dialect, reply, answer, asked), headers, reply)

    async def _send(self, request: web.Request, plan: _Plan) -> web.StreamResponse:
        delivery, reply = plan.delivery, plan.reply
        await asyncio.sleep(self._script.latency_s if reply.latency_s is None else reply.latency_s)
        await _stall(reply, StallAt.HEADERS)
        response = web.StreamResponse(status=delivery.status, headers=plan.headers)
        response.content_type = delivery.media_type
        response.content_length = delivery.length
        response.headers["cache-control"] = "no-cache"
        await response.prepare(request)
        if request.method == "HEAD":
            return response
        for piece in in_pieces(delivery.head, reply.chunk_bytes):
            await response.write(piece)
            await asyncio.sleep(reply.pause_s)
        await _stall(reply, StallAt.STREAM)
        for piece in in_pieces(delivery.tail, reply.chunk_bytes):
            await response.write(piece)
            await asyncio.sleep(reply.pause_s)
        if delivery.is_cut and request.transport is not None:
            request.transport.close()
        return response


def wire_of(path: str) -> Wire | None:
    """Tell by which wire a path asks a model."""
    for ending, wire in (
        ("/messages", Wire.ANTHROPIC),
        ("/responses", Wire.RESPONSES),
        ("/chat/completions", Wire.CHAT),
    ):
        if path.endswith(ending):
            return wire
    return Wire.GEMINI if path.endswith((":generateContent", ":streamGenerateContent")) else None


@asynccontextmanager
async def listening(provider: Provider, host: str, port: int) -> AsyncIterator[str]:
    """Answer at `port` (0: any) while the block runs; gives the URL. Raises OSError for a port that is taken."""
    app = web.Application(client_max_size=MOST_BODY_BYTES)
    app.router.add_route("*", "/{path:.*}", provider.answer)
    runner = web.AppRunner(
        app, handler_cancellation=True, access_log=None, auto_decompress=False, shutdown_timeout=_GOODBYE_S
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield f"http://{host}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _stall(reply: Reply, at: StallAt) -> None:
    if reply.stall is None or reply.stall.at is not at:
        return
    if reply.stall.seconds is None:
        await asyncio.Event().wait()
    else:
        await asyncio.sleep(reply.stall.seconds)


def _native(dialect: Dialect, usage: DeclaredUsage, wire: Wire) -> JsonValue:
    return usage.raw[wire] if wire in usage.raw else dialect.usage(usage)


def _refused(dialect: Dialect, refusal: Refusal) -> _Plan:
    waits = refusal.retry_after_s
    headers = {} if waits is None else {"retry-after": f"{waits:g}"}
    return _Plan(of_error(dialect, refusal), headers, Reply(error=refusal))


def _probe(request: web.Request, wire: Wire | None) -> _Plan:
    """Answer what asks no model."""
    dialect = _DIALECTS[wire or Wire.ANTHROPIC]
    if "upgrade" in request.headers:
        return _refused(dialect, Refusal(status=426, message="no web socket is spoken here; use POST"))
    if wire is not None:
        return _refused(dialect, Refusal(status=405, message=f"{request.method} is not a request to a model; use POST"))
    if request.method == "HEAD":
        return _Plan(Delivery(200, "application/json", (), (), 0), {}, Reply(text=""))
    return _refused(dialect, Refusal(status=404, message=f"{request.path} is nothing that the provider has"))
