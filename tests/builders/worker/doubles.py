"""Doubles of the line's ports: each breaks in one way."""

from collections.abc import Callable
from pathlib import Path

from farm.adapters.memory import MemorySignals
from farm.errors import TransientError
from farm.model import Digest, Lease, StopReason, SweepId
from farm.ports import BlobStore, LeaseBook, Renewal
from sandbox.errors import SandboxError
from sandbox.spec import Exit, Facts, Probe, Sandbox, SandboxSpec, Sink
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

    def facts(self) -> Facts:
        return self._real.facts()

    def owner(self, slot: int) -> tuple[int, int]:
        return self._real.owner(slot)

    def preflight(self, scratch: Path) -> tuple[Probe, ...]:
        return self._real.preflight(scratch)


def breaks_at(*numbers: int) -> Callable[[int, SandboxSpec], None]:
    """Let the runs with these numbers fail to start."""

    def before(number: int, _: SandboxSpec) -> None:
        if number in numbers:
            raise SandboxError(f"run {number} could not be started")

    return before


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

    def has(self, digest: Digest) -> bool:
        return self._real.has(digest)


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
