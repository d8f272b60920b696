"""A gateway with one open door, and a guest's HTTP at it."""

import http.client
import json
import os
import socket
from contextlib import contextmanager
from dataclasses import dataclass

from farm.adapters.system_clock import SystemClock
from farm.model import Wire
from worker.gateway import Gateway, Pass, Patience, Purse, Upstream

KEY = "sk-real-0123456789abcdef"
ALL_WIRES = frozenset(Wire)


class DoorConnection(http.client.HTTPConnection):
    """HTTP at a unix socket."""

    def __init__(self, place, timeout=20):
        super().__init__("127.0.0.1:8080", timeout=timeout)
        self._place = place

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._place))


@dataclass
class Guest:
    """What a session can do at its door."""

    place: object

    def connection(self, timeout=20):
        return DoorConnection(self.place, timeout)

    def ask(self, path, body, headers=(), method="POST"):
        """Ask once on a connection of its own; the answer has status, headers and `body`."""
        connection = self.connection()
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            connection.request(method, path, raw, {"Content-Type": "application/json", **dict(headers)})
            answer = connection.getresponse()
            answer.body = answer.read()
            return answer
        finally:
            connection.close()

    def raw(self, timeout=20):
        """Open a plain socket."""
        caller = socket.socket(socket.AF_UNIX)
        caller.settimeout(timeout)
        caller.connect(str(self.place))
        return caller


@dataclass
class AtDoor:
    """An open door."""

    guest: Guest
    door: object
    pressure: list


@contextmanager
def a_gateway(patience=None):
    gateway = Gateway(SystemClock(), patience)
    try:
        yield gateway
    finally:
        gateway.close()


@contextmanager
def at_door(gateway, folder, url, **terms):
    """Open a door to `url`; `terms` are a pass's models and purse, and an upstream's key and wires."""
    pressure = []
    upstream = Upstream("anyone", terms.get("wires", ALL_WIRES), url, terms.get("key", KEY))
    pass_ = Pass(upstream, terms.get("models", ()), terms.get("purse") or Purse(None, None))
    owner = (os.getuid(), os.getgid())
    with gateway.open(folder / "door", owner, pass_, lambda *told: pressure.append(told)) as door:
        yield AtDoor(Guest(folder / "door"), door, pressure)


def quick(**changes):
    """Give clocks that tests can wait for."""
    return Patience(**{"connect_s": 2.0, "silence_s": 0.5, "client_s": 1.0, "close_s": 2.0} | changes)
