"""What many streams and long ones cost a worker."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from farm.model import RequestEnd, Wire
from tests.builders.gateway import a_gateway, at_door
from tests.builders.native import EVENTS, TOKENS, asking
from tests.builders.raw_provider import chunk, providing, sse, stream

MIB = 1 << 20
PAGE = 4096
_DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x" * 8000}}
_BEGIN = stream(EVENTS[Wire.ANTHROPIC][0], end=b"")
_END = b"".join(chunk(sse(event)) for event in EVENTS[Wire.ANTHROPIC][-2:]) + b"0\r\n\r\n"


@pytest.fixture(scope="module")
def gateway():
    with a_gateway() as gateway:
        yield gateway


def resident():
    """Give this process's memory, the provider's and the agent's included: they are in it."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


@pytest.mark.parametrize("event", [sse(_DELTA), b"x" * 65536], ids=["events", "one endless event"])
def test_memory_stays_flat_over_a_stream_of_200_mb(gateway, tmp_path, event):
    async def flood(_reader, writer):
        writer.write(_BEGIN)
        piece = chunk(event)
        for _ in range(200 * MIB // len(event)):
            writer.write(piece)
            await writer.drain()
        writer.write((b"" if event.endswith(b"\n\n") else chunk(b"\n\n")) + _END)

    with providing(flood) as provider, at_door(gateway, tmp_path, provider.url) as at:
        connection = at.guest.connection()
        connection.request("POST", "/v1/messages", json.dumps(asking(Wire.ANTHROPIC, streams=True)))
        answer = connection.getresponse()
        got = len(answer.read(20 * MIB))
        first = most = resident()
        while piece := answer.read(MIB):
            got += len(piece)
            most = max(most, resident())
        connection.close()
    assert got > 199 * MIB
    assert most - first < 24 * MIB  # an event of which 8 MiB are kept before it is given up, and its copies
    assert at.door.report().tokens == TOKENS[Wire.ANTHROPIC]
    assert at.door.report().ends == {RequestEnd.ANSWERED: 1}


def test_64_streams_at_one_time_all_come_through(gateway, tmp_path):
    running = threading.Barrier(64, timeout=60)
    all_there = asyncio.Event()
    count = 0

    async def reply(_reader, writer):
        nonlocal count
        count += 1
        if count == 64:
            all_there.set()
        writer.write(_BEGIN)
        await asyncio.wait_for(all_there.wait(), 60)
        for _ in range(20):
            writer.write(chunk(sse(_DELTA)))
            await writer.drain()
        writer.write(_END)

    def ask(at):
        running.wait()
        return at.guest.ask("/v1/messages", asking(Wire.ANTHROPIC, streams=True)).body

    with providing(reply) as provider, at_door(gateway, tmp_path, provider.url) as at:
        with ThreadPoolExecutor(64) as pool:
            bodies = set(pool.map(ask, [at] * 64))
        assert len(bodies) == 1
    report = at.door.report()
    assert (report.ends, report.unmeasured) == ({RequestEnd.ANSWERED: 64}, 0)
    assert report.tokens.output == 64 * 120
