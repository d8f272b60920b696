"""A provider's answer on its way back to the agent.

What must stay true: its bytes pass as they come and are only looked at; whatever breaks on one side ends the other
side too, within a bound; and our key does not pass.
"""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

import aiohttp
from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

from farm.model import RequestEnd
from farm.ports import Clock
from worker.gateway.coding import CodingError, decoder
from worker.gateway.exchange import Errand, Exchange
from worker.gateway.failures import SaidError, end_of_error, read_error_body
from worker.gateway.headers import Header, answer_headers
from worker.gateway.ledger import Ledger
from worker.gateway.reading import AnswerHead, AnswerReader, KeyGuard, KeyShownError
from worker.gateway.routes import LocalAnswer
from worker.gateway.values import Pass, Patience, Upstream

BROKEN = (aiohttp.ClientError, ConnectionError)
"""What a provider's connection raises when it breaks."""
_MOST_ERROR = 1 << 20
_T = TypeVar("_T")


class ClientGoneError(Exception):
    """The agent hung up, or does not read."""


@dataclass(frozen=True, slots=True)
class Passed:
    """An answer of the provider that the agent has got, or a part of it."""

    response: web.StreamResponse
    end: RequestEnd
    is_cut: bool = False
    """It broke off: the agent's connection must, too."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Passes the answers of one session's requests."""

    pass_: Pass
    patience: Patience
    ledger: Ledger
    clock: Clock

    @property
    def upstream(self) -> Upstream:
        return self.pass_.upstream

    async def refusal(self, answer: aiohttp.ClientResponse, exchange: Exchange) -> Passed | LocalAnswer:
        """Pass the provider's error on in one piece, unless it can't be read or shows our key."""
        body = bytearray()
        end = self._end(answer.status, SaidError(frozenset(), None))
        try:
            async for chunk in answer.content.iter_any():
                body += chunk
                if len(body) > _MOST_ERROR:
                    return LocalAnswer(answer.status, "the provider's error is too long to be passed on", end)
            plain = _plain(bytes(body), answer.headers.get("content-encoding", ""))
            KeyGuard(self.upstream.key).check(plain)
        except (CodingError, KeyShownError):
            return LocalAnswer(answer.status, "the provider's error shows our key or can't be read: withheld", end)
        except (*BROKEN, TimeoutError):
            return LocalAnswer(answer.status, "the provider's error broke off", end)
        said = read_error_body(plain)
        exchange.detail = said.message
        response = web.Response(
            status=answer.status, reason=answer.reason, headers=self._headers(answer), body=bytes(body)
        )
        return Passed(response, self._end(answer.status, said))

    def _end(self, status: int, said: SaidError) -> RequestEnd:
        return end_of_error(status, said, is_pinned=bool(self.pass_.models))

    async def answer(self, request: web.BaseRequest, answer: aiohttp.ClientResponse, errand: Errand) -> Passed:
        """Pass the answer on as it comes; ClientGoneError when the agent does not take it."""
        exchange = errand.exchange
        reader = self._reader(answer, errand)
        response = _Stream(status=answer.status, reason=answer.reason, headers=self._headers(answer))
        if answer.content_length is not None and not reader.head.is_edited:
            response.content_length = answer.content_length
        try:
            writer = await self._taken(response.prepare(request))
            await self._pour(answer.content, reader, Spout(response, writer, exchange))
        except ClientGoneError as error:
            exchange.is_slow = isinstance(error.__cause__, TimeoutError)
            raise
        except KeyShownError:
            exchange.detail = "the provider's answer shows our key: cut off"
            return Passed(response, RequestEnd.MALFORMED, is_cut=True)
        except TimeoutError:
            exchange.detail = "the provider went silent"
            return Passed(response, RequestEnd.STALLED, is_cut=True)
        except BROKEN:
            exchange.detail = "the provider's answer broke off"
            return Passed(response, RequestEnd.CUT, is_cut=True)
        exchange.detail = reader.problem
        return Passed(response, reader.end)

    def _reader(self, answer: aiohttp.ClientResponse, errand: Errand) -> AnswerReader:
        head = AnswerHead(
            wire=errand.route.wire,
            content_type=answer.headers.get("content-type", ""),
            encoding=answer.headers.get("content-encoding", ""),
            hides_usage=errand.asked.hides_usage,
        )
        guard = KeyGuard(self.upstream.key)
        return AnswerReader(head, errand.exchange.seen, guard, self.patience.most_event_bytes)

    async def _pour(self, content: aiohttp.StreamReader, reader: AnswerReader, spout: "Spout") -> None:
        chunk = content.read_nowait()
        if not chunk and spout.writer is not None:
            spout.writer.send_headers()  # the body may take its time: that there is an answer is news
        while chunk or (chunk := await content.readany()):
            spout.exchange.waits_since = None
            await self._give(reader.feed(chunk), spout)
            spout.exchange.waits_since = self.clock.monotonic()
            chunk = b""
        spout.exchange.waits_since = None
        await self._give(reader.finish(), spout)
        await self._taken(spout.response.write_eof())

    async def _give(self, passed: bytes, spout: "Spout") -> None:
        self.ledger.settle_early(spout.exchange)
        if passed:
            await self._taken(spout.response.write(passed))

    async def _taken(self, giving: Awaitable[_T]) -> _T:
        try:
            async with asyncio.timeout(self.patience.client_s):
                return await giving
        except (ConnectionError, TimeoutError) as error:
            raise ClientGoneError from error

    def _headers(self, answer: aiohttp.ClientResponse) -> list[Header]:
        most_wait_s, now = self.patience.most_told_wait_s, self.clock.now()
        return answer_headers(answer.headers.items(), self.upstream.key, most_wait_s, now)


class _Stream(web.StreamResponse):
    """One whose head goes out with the first bytes of its body, when they are there already."""

    _send_headers_immediately = False


@dataclass(frozen=True, slots=True)
class Spout:
    """Where an answer leaves for the agent."""

    response: web.StreamResponse
    writer: AbstractStreamWriter | None
    exchange: Exchange


def _plain(body: bytes, encoding: str) -> bytes:
    undo = decoder(encoding, _MOST_ERROR)
    if undo is None:
        raise CodingError("an encoding that can't be read")
    plain = b"".join(undo.feed(body))
    undo.finish()
    return plain
