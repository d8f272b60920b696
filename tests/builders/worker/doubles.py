"""Doubles of the line's ports: each breaks in one way."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from farm.adapters.memory import MemorySignals
from farm.errors import TransientError
from farm.model import Digest, Lease, StopReason, SweepId
from farm.ports import BlobStore, LeaseBook, Records, Renewal
from sandbox.errors import SandboxError
from sandbox.spec import Exit, Facts, Images, Probe, Sandbox, SandboxSpec, Sink
from tests.services.waiting import wait_until


class HookedSandbox:
    """A real sandbox that calls `before` with the number of the run, from 1; what it raises is the run's end."""

    def __init__(self, real: Sandbox, before: Callable[[int, SandboxSpec], None]) -> None:
        self._real = real
        self._before = before
        self.runs: list[SandboxSpec] = []

    def run(self, spec: SandboxSpec, sink: Sink, stop: Callable[[], bool]) -> Exit:
        self.runs.append(spec)
        self._before(len(self.runs), spec)
        return self._real.run(spec, sink, stop)

    @property
    def images(self) -> Images | None:
        return self._real.images

    def facts(self) -> Facts:
        return self._real.facts()

    def owner(self, slot: int) -> tuple[int, int]:
        return self._real.owner(slot)

    def close(self) -> None:
        self._real.close()

    def preflight(self, scratch: Path) -> tuple[Probe, ...]:
        return self._real.preflight(scratch)


def breaks_at(*numbers: int) -> Callable[[int, SandboxSpec], None]:
    """Let the runs with these numbers fail to start."""

    def before(number: int, _: SandboxSpec) -> None:
        if number in numbers:
            raise SandboxError(f"run {number} could not be started")

    return before


Hook = Callable[[str], None]


@dataclass
class HookedRecords:
    """Records that call a hook before and after each creation, and before each read."""

    real: Records
    before: Hook = field(default=lambda _: None)
    after: Hook = field(default=lambda _: None)
    at_read: Hook = field(default=lambda _: None)

    def create(self, key: str, body: bytes) -> bool:
        self.before(key)
        is_new = self.real.create(key, body)
        self.after(key)
        return is_new

    def read(self, key: str) -> bytes | None:
        self.at_read(key)
        return self.real.read(key)

    def keys(self, prefix: str) -> Iterator[str]:
        return self.real.keys(prefix)


class FlakyBlobs:
    """A blob store that does not answer the first `failures` puts."""

    def __init__(self, real: BlobStore, failures: int) -> None:
        self._real = real
        self.failures = failures

    def put(self, body: bytes) -> Digest:
        if self.failures > 0:
            self.failures -= 1
            raise TransientError("the store is away")
        return self._real.put(body)

    def put_file(self, path: Path) -> Digest:
        return self._real.put_file(path)

    def get(self, digest: Digest) -> bytes:
        return self._real.get(digest)

    def fetch(self, digest: Digest, path: Path) -> None:
        self._real.fetch(digest, path)


class SilentStore(FlakyBlobs):
    """A blob store that answers no read."""

    def get(self, digest: Digest) -> bytes:
        raise TransientError(f"the store is away, and {digest} with it")


class LosingLeases:
    """A lease book that refuses every renewal from the moment `is_lost` is set."""

    def __init__(self, real: LeaseBook) -> None:
        self._real = real
        self.is_lost = False

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    def renew(self, lease: Lease, ttl_s: float) -> Renewal:
        return Renewal(is_held=False) if self.is_lost else self._real.renew(lease, ttl_s)


class CountingSignals(MemorySignals):
    """Signals that count how often somebody looked for an order."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0

    def stop_reason(self, sweep: SweepId) -> StopReason | None:
        self.looks += 1
        return super().stop_reason(sweep)

    def wait_for_looks(self, more: int) -> None:
        """Wait until every pulse that beats has come by."""
        seen = self.looks
        wait_until(lambda: self.looks >= seen + more)


class SlowLeases:
    """A lease book whose next renewal, once held, reaches it after the release, or after a while without one."""

    def __init__(self, real: LeaseBook) -> None:
        self._real = real
        self._is_held = threading.Event()
        self._is_on_its_way = threading.Event()
        self._is_released = threading.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    def hold_the_next(self) -> None:
        """Wait until a renewal is on its way."""
        self._is_held.set()
        assert self._is_on_its_way.wait(20)

    def renew(self, lease: Lease, ttl_s: float) -> Renewal:
        if self._is_held.is_set():
            self._is_on_its_way.set()
            self._is_released.wait(0.5)
        return self._real.renew(lease, ttl_s)

    def release(self, lease: Lease) -> None:
        self._real.release(lease)
        self._is_released.set()
