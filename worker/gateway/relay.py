"""One request on its way to the provider: sent once, with our key, to the provider's own address and nowhere else."""

import asyncio
import io
from dataclasses import dataclass
from http import HTTPStatus

import aiohttp
import yarl
from aiohttp import web

from farm.model import RequestEnd
from farm.ports import Clock
from worker.gateway.exchange import Errand
from worker.gateway.headers import key_header, retry_after_s
from worker.gateway.passing import BROKEN, Passage, Passed
from worker.gateway.routes import LocalAnswer

_IN_ONE_WRITE = 1 << 20
_FIXED = (("Content-Type", "application/json"), ("Accept-Encoding", "identity"))
"""What a body is taken for, and an answer in bytes that can be metered."""


@dataclass(frozen=True, slots=True)
class Relay:
    """Sends one session's requests to its provider."""

    client: aiohttp.ClientSession
    clock: Clock
    passage: Passage

    async def send(self, request: web.BaseRequest, errand: Errand) -> Passed | LocalAnswer:
        """Send and pass the answer back; a LocalAnswer stands for one that can't be."""
        exchange, passage = errand.exchange, self.passage
        answer = await self._answer(errand)
        if isinstance(answer, LocalAnswer):
            return answer
        async with answer:
            exchange.waits_since = self.clock.monotonic()
            exchange.status = answer.status
            exchange.retry_after_s = retry_after_s(
                answer.headers.get("retry-after-ms"), answer.headers.get("retry-after"), self.clock.now()
            )
            if answer.status >= HTTPStatus.BAD_REQUEST:
                return await passage.refusal(answer, exchange)
            if answer.status != HTTPStatus.OK:
                return LocalAnswer(
                    HTTPStatus.BAD_REQUEST,
                    f"the provider answered {answer.status}, which is not followed; its URL may be wrong",
                    RequestEnd.DENIED,
                )
            return await passage.answer(request, answer, errand)

    async def _answer(self, errand: Errand) -> aiohttp.ClientResponse | LocalAnswer:
        exchange, patience = errand.exchange, self.passage.patience
        exchange.was_sent = True  # also when we are cancelled in between
        exchange.waits_since = self.clock.monotonic()
        try:
            async with asyncio.timeout(patience.connect_s + patience.silence_s):
                return await self._post(errand)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            exchange.was_sent = False
            return LocalAnswer(
                HTTPStatus.BAD_GATEWAY, f"the provider can't be reached: {error}", RequestEnd.UNAVAILABLE
            )
        except TimeoutError:
            return LocalAnswer(HTTPStatus.GATEWAY_TIMEOUT, "the provider does not answer", RequestEnd.STALLED)
        except aiohttp.ClientResponseError as error:
            return LocalAnswer(
                HTTPStatus.BAD_GATEWAY, f"the provider's answer is not HTTP: {error.message}", RequestEnd.MALFORMED
            )
        except BROKEN as error:
            message = f"the provider hung up without an answer: {type(error).__name__}"
            return LocalAnswer(HTTPStatus.BAD_GATEWAY, message, RequestEnd.UNAVAILABLE)

    async def _post(self, errand: Errand) -> aiohttp.ClientResponse:
        asked, route, upstream = errand.asked, errand.route, self.passage.upstream
        headers = [*errand.headers, *key_header(route.wire, upstream.key), *_FIXED]
        if asked.encoding:
            headers.append(("Content-Encoding", asked.encoding))
        return await self.client.post(
            yarl.URL(upstream.url + route.target, encoded=True),
            data=asked.body if len(asked.body) <= _IN_ONE_WRITE else io.BytesIO(asked.body),
            headers=headers,
            allow_redirects=False,
        )
