"""The gateway's thread: one event loop, one pool of connections to the providers, kept over sessions and cells."""

import asyncio
import socket
from collections.abc import Coroutine
from concurrent.futures import TimeoutError as FutureTimeoutError
from threading import Thread
from typing import Any, TypeVar

import aiohttp

from farm.errors import TransientError
from farm.ports import Clock
from worker.gateway.door import Desk, Door
from worker.gateway.values import OnPressure, Pass, Patience

_ANSWER_S = 10.0
"""Longer than anything that the loop is asked for may take, on top of its own bounds."""
_POOLED_S = 15.0
"""An idle connection is kept for less than any provider keeps it, so that none dies under a request."""
_MOST_FIELD = 32768
_T = TypeVar("_T")


class Engine:
    """Started by making one; closed once."""

    def __init__(self, patience: Patience, clock: Clock) -> None:
        self._patience = patience
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name="gateway", daemon=True)
        self._thread.start()
        self._desk = Desk(self._wait(_client(patience)), patience, clock)

    def open(self, listener: socket.socket, pass_: Pass, on_pressure: OnPressure) -> Door:
        """Serve a session at `listener`."""
        return self._wait(self._opened(listener, pass_, on_pressure))

    def close_door(self, door: Door) -> None:
        """End a session's requests."""
        self._wait(door.close())

    def close(self) -> None:
        """Close the pool and end the thread."""
        self._wait(self._desk.client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_ANSWER_S)

    async def _opened(self, listener: socket.socket, pass_: Pass, on_pressure: OnPressure) -> Door:
        door = Door(self._desk, pass_, on_pressure)
        await door.open(listener)
        return door

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.get_loop().run_forever()

    def _wait(self, what: Coroutine[Any, Any, _T]) -> _T:
        future = asyncio.run_coroutine_threadsafe(what, self._loop)
        try:
            return future.result(self._patience.close_s + _ANSWER_S)
        except FutureTimeoutError:
            future.cancel()
            raise TransientError(
                "the gateway's event loop does not answer; the worker's machine may be overloaded"
            ) from None


async def _client(patience: Patience) -> aiohttp.ClientSession:
    def a_socket(address: aiohttp.AddrInfoType) -> socket.socket:
        """Make one that the kernel ends when its peer takes nothing: what is left to send would keep it for ever."""
        family, kind, protocol = address[:3]
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(patience.silence_s * 1000))
        return made

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_POOLED_S, socket_factory=a_socket),
        timeout=aiohttp.ClientTimeout(
            total=None, connect=patience.connect_s, sock_connect=patience.connect_s, sock_read=patience.silence_s
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
        auto_decompress=False,
        max_line_size=_MOST_FIELD,
        max_field_size=_MOST_FIELD,
        trust_env=False,
    )
