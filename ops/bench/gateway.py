"""What the gateway adds to a request, beside what LiteLLM's proxy adds, on the same provider in the same run.

    python ops/bench/gateway.py [--rounds 300] [--streams 64] [--litellm VENV] [--json]

Each round asks each way once, one after the other and in turning order, so that a busy machine hurts them alike: the
provider directly, through our gateway's unix socket, and through LiteLLM's proxy where VENV has one (as that of `make
test` does; elsewhere: pip install 'litellm[proxy]==1.108.7'). Prompts are 20 kB, connections are kept, the provider
answers at once. Added is a way's time less the direct time of the same round. Then many streams run at one time through
the gateway: all must come through. The exit code is 1 when one did not, or when we add more than a fifth of what
LiteLLM adds. Provider, gateway and LiteLLM are processes of their own.
"""

import argparse
import http.client
import json
import os
import secrets
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import measure
from gateway_ends import EVENTS

_PROMPT = "The quick brown fox jumps over the lazy dog. " * 450
_MOST_SHARE = 0.2
_WARM = 20


class _DoorConnection(http.client.HTTPConnection):
    """HTTP at the gateway's socket."""

    def __init__(self, place: Path) -> None:
        super().__init__("127.0.0.1:8080", timeout=measure.WAIT_S)
        self._place = place

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._place))


@dataclass(frozen=True, slots=True)
class Way:
    """One way to the provider."""

    name: str
    connect: Callable[[], http.client.HTTPConnection]
    key: str


@dataclass(frozen=True, slots=True)
class Added:
    """Milliseconds that a way adds to a request, streamed or not."""

    way: str
    kind: str
    direct_p50_ms: float
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Crowd:
    """Many streams at one time through the gateway."""

    streams: int
    complete: int
    wall_s: float
    gateway_before_mib: float
    gateway_peak_mib: float


@dataclass(frozen=True, slots=True)
class Report:
    """What one run measured."""

    added: list[Added]
    crowd: Crowd


def _ask(connection: http.client.HTTPConnection, key: str, *, is_stream: bool) -> bytes:
    messages = [{"role": "user", "content": _PROMPT}]
    body = json.dumps({"model": "bench", "max_tokens": 100, "stream": is_stream, "messages": messages})
    headers = {"Content-Type": "application/json", "x-api-key": key, "anthropic-version": "2023-06-01"}
    connection.request("POST", "/v1/messages", body, headers)
    answer = connection.getresponse()
    got = answer.read()
    if answer.status != http.HTTPStatus.OK:
        raise SystemExit(f"a request was answered {answer.status}: {got[:500]!r}")
    return got


def _ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _latency(ways: list[Way], rounds: int) -> list[Added]:
    kept = {way.name: way.connect() for way in ways}
    found = []
    for kind in ("whole", "streamed"):
        took: dict[str, list[float]] = {way.name: [] for way in ways}
        for number in range(rounds + _WARM):
            for turn in range(len(ways)):
                way = ways[(number + turn) % len(ways)]
                spent = _ms(lambda: _ask(kept[way.name], way.key, is_stream=kind == "streamed"))  # noqa: B023 (now)
                if number >= _WARM:
                    took[way.name].append(spent)
        direct = took[ways[0].name]
        for way in ways[1:]:
            added = sorted(there - straight for there, straight in zip(took[way.name], direct, strict=True))
            p95 = added[min(len(added) - 1, int(len(added) * 0.95))]
            found.append(Added(way.name, kind, statistics.median(direct), statistics.median(added), p95))
    for connection in kept.values():
        connection.close()
    return found


def _peak_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _crowd(way: Way, streams: int, pid: int) -> Crowd:
    before = _peak_mib(pid)
    start = threading.Barrier(streams)

    def one(_number: int) -> bool:
        connection = way.connect()
        start.wait(measure.WAIT_S)
        got = _ask(connection, way.key, is_stream=True)
        connection.close()
        return got.count(b"\n\n") == len(EVENTS)

    began = time.perf_counter()
    with ThreadPoolExecutor(streams) as pool:
        complete = sum(pool.map(one, range(streams)))
    return Crowd(streams, complete, time.perf_counter() - began, before, _peak_mib(pid))


@contextmanager
def _litellm(venv: Path, provider: int, folder: Path) -> Iterator[Way]:
    """Run LiteLLM's proxy in front of the provider."""
    port, key = measure.free_port(), f"sk-{secrets.token_hex(24)}"
    model = {"model": "anthropic/bench", "api_base": f"http://127.0.0.1:{provider}", "api_key": "sk-bench"}
    config = {"model_list": [{"model_name": "bench", "litellm_params": model}]}
    (folder / "litellm.yaml").write_text(json.dumps(config), encoding="utf-8")
    env = {
        "PATH": f"{venv / 'bin'}:/usr/bin:/bin",
        "HOME": str(folder),
        "LITELLM_MASTER_KEY": key,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
        "NO_PROXY": "*",
    }
    words = [str(venv / "bin" / "litellm"), "--config", str(folder / "litellm.yaml")]
    words += ["--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"]
    with measure.running(words, env, folder / "litellm.log"):
        connect = _connector(port)
        try:
            measure.wait_until(lambda: _answers(connect, "/health/liveliness"), "LiteLLM's start")
        except TimeoutError as error:
            log = (folder / "litellm.log").read_text(encoding="utf-8", errors="replace")
            raise SystemExit(f"{error}: {log[-2000:]}") from error
        yield Way("litellm", connect, key)


def _connector(port: int) -> Callable[[], http.client.HTTPConnection]:
    return lambda: http.client.HTTPConnection("127.0.0.1", port, timeout=measure.WAIT_S)


def _answers(connect: Callable[[], http.client.HTTPConnection], path: str) -> bool:
    connection = connect()
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _measured(folder: Path, rounds: int, streams: int, litellm: Path | None) -> Report:
    port, env = measure.free_port(), {"PYTHONPATH": os.pathsep.join(sys.path)}
    with ExitStack() as stack:
        words = [sys.executable, str(Path(__file__).with_name("gateway_ends.py"))]
        stack.enter_context(measure.running([*words, "provide", str(port)], env, folder / "provider.log"))
        gate = stack.enter_context(measure.running([*words, "gate", str(port), str(folder)], env, folder / "gate.log"))
        ours = Way("gateway", lambda: _DoorConnection(folder / "door"), "x")
        measure.wait_until(lambda: measure.answers(port), "the provider's start")
        measure.wait_until(lambda: _answers(ours.connect, "/"), "the gateway's start")
        ways = [Way("direct", _connector(port), "x"), ours]
        if litellm is not None:
            ways.append(stack.enter_context(_litellm(litellm, port, folder)))
        return Report(_latency(ways, rounds), _crowd(ours, streams, gate))


def _share(added: list[Added], kind: str) -> float | None:
    """Give what we add as a share of what LiteLLM adds, at the median."""
    by_way = {one.way: one.p50_ms for one in added if one.kind == kind}
    return by_way["gateway"] / by_way["litellm"] if "litellm" in by_way else None


def main() -> None:
    """Measure, print, and fail when a bar is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--litellm", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-gateway-") as folder:
        report = _measured(Path(folder), options.rounds, options.streams, options.litellm)
    shares = {kind: _share(report.added, kind) for kind in ("whole", "streamed")}
    if options.json:
        print(json.dumps({**asdict(report), "shares": shares}))
    else:
        for one in report.added:
            print(
                f"{one.kind:<9} {one.way:<8} added p50 {one.p50_ms:6.2f} ms  p95 {one.p95_ms:6.2f} ms"
                f"  (direct {one.direct_p50_ms:.2f} ms)"
            )
        for kind, share in shares.items():
            print(f"{kind:<9} ours / LiteLLM's: {'not measured' if share is None else f'{share:.3f}'}")
        crowd = report.crowd
        print(
            f"{crowd.streams} streams at one time: {crowd.complete} complete in {crowd.wall_s:.2f} s; the gateway's"
            f" memory peaks at {crowd.gateway_peak_mib:.0f} MiB, {crowd.gateway_before_mib:.0f} before"
        )
    is_slow = any(share is not None and share > _MOST_SHARE for share in shares.values())
    sys.exit(1 if is_slow or report.crowd.complete < report.crowd.streams else 0)


if __name__ == "__main__":
    main()
