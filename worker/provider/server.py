"""The scripted provider: four wires on one port, answered from a script.

What must stay true: every request is recorded, with what it was answered, before it is answered.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from aiohttp import web

from worker.provider.bodies import MOST_BYTES
from worker.provider.delivery import in_pieces
from worker.provider.plan import Plan, Planner, Request
from worker.provider.record import Recorded, safe_headers, safe_path
from worker.provider.script import Reply, Script, StallAt

_GOODBYE_S = 0.1
"""How long the end waits for answers that are still being sent."""


class Provider:
    """Answers requests from a script, on one event loop."""

    def __init__(self, script: Script, record: Callable[[Recorded], None]) -> None:
        self._planner = Planner(script)
        self._latency_s = script.latency_s
        self._record = record

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        body = await request.read()
        plan = self._planner.plan(
            Request(
                method=request.method,
                path=request.path,
                query=request.query,
                body=body,
                encoding=request.headers.get("content-encoding"),
                wants_socket="upgrade" in request.headers,
            )
        )
        self._record(_recorded(request, body, plan))
        reply = plan.reply
        await asyncio.sleep(self._latency_s if reply.latency_s is None else reply.latency_s)
        await _stall(reply, StallAt.HEADERS)
        return await _send(request, plan)


@asynccontextmanager
async def listening(provider: Provider, host: str, port: int) -> AsyncIterator[str]:
    """Answer at `port` (0: any) while the block runs; gives the URL. Raises OSError for a port that is taken."""
    app = web.Application(client_max_size=MOST_BYTES)
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


def _recorded(request: web.Request, body: bytes, plan: Plan) -> Recorded:
    asked = plan.asked
    return Recorded(
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


async def _send(request: web.Request, plan: Plan) -> web.StreamResponse:
    delivery, reply = plan.delivery, plan.reply
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
