"""A network namespace for each host, joined to the services by a pair of interfaces, so that a host can be cut off."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


@dataclass(frozen=True)
class Lane:
    """One host's way to the services."""

    name: str
    near: str
    """Our address."""
    far: str
    """The host's."""

    @property
    def inside(self) -> tuple[str, ...]:
        """The words that a command is put behind to be on that host."""
        return ("nsenter", f"--net=/run/netns/{self.name}")

    @contextmanager
    def dropping(self, port: int, *directions: str) -> Iterator[None]:
        """Drop what the host sends to a port (`output`), what comes back (`input`), or both."""
        nft = (*self.inside, "nft")
        _run(*nft, "add", "table", "ip", "faults")
        try:
            for direction in directions:
                side = {"input": "sport", "output": "dport"}[direction]
                chain = f"{{ type filter hook {direction} priority 0 ; }}"
                _run(*nft, "add", "chain", "ip", "faults", direction, chain)
                _run(*nft, "add", "rule", "ip", "faults", direction, "tcp", side, f"{port}", "drop")
            yield
        finally:
            _run(*nft, "delete", "table", "ip", "faults")


@contextmanager
def a_lane(number: int) -> Iterator[Lane]:
    """Make a namespace and its way to us; whatever was in it loses its way with the block."""
    net = f"10.{100 + os.getpid() % 100}.{os.getpid() // 100 % 250}.{4 * number}"
    base, _, last = net.rpartition(".")
    lane = Lane(f"f{os.getpid()}n{number}", f"{base}.{int(last) + 1}", f"{base}.{int(last) + 2}")
    outside, inside = f"{lane.name}o", f"{lane.name}i"
    _run("ip", "netns", "add", lane.name)
    try:
        _run("ip", "link", "add", outside, "type", "veth", "peer", "name", inside, "netns", lane.name)
        _run("ip", "addr", "add", f"{lane.near}/30", "dev", outside)
        _run("ip", "link", "set", outside, "up")
        for words in (
            ("addr", "add", f"{lane.far}/30", "dev", inside),
            ("link", "set", inside, "up"),
            ("link", "set", "lo", "up"),
        ):
            _run("ip", "-n", lane.name, *words)
        yield lane
    finally:
        with suppress(subprocess.CalledProcessError):
            _run("ip", "link", "del", outside)
        _run("ip", "netns", "del", lane.name)
