"""The scripted provider in a thread, for tests that need a model to answer."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue

import yaml

from worker.provider.record import Recorded
from worker.provider.script import Script
from worker.provider.server import Provider, listening

_START_S = 20


@dataclass(frozen=True)
class ScriptedProvider:
    """A running provider."""

    url: str
    requests: list[Recorded]
    """What it was asked so far, in order."""

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def serving(script: Script | Mapping[str, object] | str, port: int = 0) -> Iterator[ScriptedProvider]:
    """Answer from a script, its document or its YAML text, while the block runs."""
    document = yaml.safe_load(script) if isinstance(script, str) else script
    checked = document if isinstance(document, Script) else Script.model_validate(document)
    requests: list[Recorded] = []
    started: SimpleQueue[str | BaseException] = SimpleQueue()
    loop, stop = asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        try:
            async with listening(Provider(checked, requests.append), "127.0.0.1", port) as url:
                started.put(url)
                await stop.wait()
        except OSError as error:
            started.put(error)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), name="scripted-provider")
    thread.start()
    try:
        url = started.get(timeout=_START_S)
        if isinstance(url, BaseException):
            raise url
        yield ScriptedProvider(url, requests)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def saying(text: str, **usage: int) -> dict[str, object]:
    """Give a script that says one thing to whoever asks."""
    return {"rules": [{"reply": {"text": text, **({"usage": usage} if usage else {})}}]}
