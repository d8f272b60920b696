"""The engine as this backend needs it. The docker package is spoken to here and in `images`, and nowhere else.

Only an engine on this machine will do: binds are paths of the host.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import docker  # type: ignore[import-untyped]  # it ships no types
from docker.errors import DockerException, NotFound  # type: ignore[import-untyped]  # the same

from sandbox.backends.docker.container import OWNER_LABEL, Json
from sandbox.backends.docker.images import EngineImages
from sandbox.errors import SandboxError, SandboxUnavailableError, SandboxUnhealthyError
from sandbox.limits import Usage

DEFAULT_URL = "unix:///var/run/docker.sock"
_ANSWER_S = 30
_ANY_VERSION = "1.41"


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What the engine says of itself."""

    version: str
    runtime: str
    storage: str
    cgroups: str
    security: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A container's end, as the engine saw it."""

    was_out_of_memory: bool
    message: str


class Engine:
    """One engine, on this machine."""

    def __init__(self, url: str, *, pulls: bool) -> None:
        """Get hold of the engine. Raises SandboxUnavailableError when none answers."""
        if not url.startswith("unix://"):
            raise SandboxUnavailableError(f"engine {url!r} is not on this machine: name it as unix:///path/of/socket")
        self._url = url
        try:
            self._client = _connect(url)
        except (DockerException, OSError) as error:
            raise SandboxUnavailableError(
                f"no docker engine answers at {url}: {error}; start one, or give this user the right to its socket"
            ) from error
        self.images = EngineImages(self._client, partial(_connect, url), url, pulls=pulls)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def facts(self) -> EngineFacts:
        """Ask the engine about itself."""
        with self._said("asked about itself"):
            found = self._client.info()
        return EngineFacts(
            version=str(found["ServerVersion"]),
            runtime=str(found["DefaultRuntime"]),
            storage=str(found["Driver"]),
            cgroups=f"v{found.get('CgroupVersion', '1')}, {found.get('CgroupDriver', 'unknown')}",
            security=", ".join(sorted(found.get("SecurityOptions") or ())),
        )

    def create(self, body: Json) -> str:
        """Make a container; give its id."""
        with self._said("asked for a container"):
            return str(self._client.create_container_from_config(body)["Id"])

    def attach(self, container: str) -> socket.socket:
        """Open the container's three streams, on one socket."""
        streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        with self._said("asked for a container's streams"):
            door = self._client.attach_socket(container, params=streams)
        ours = socket.socket(fileno=os.dup(door.fileno()))
        door._response.close()  # noqa: SLF001 (docker keeps the answer there, and the answer the first descriptor)
        return ours

    def start(self, container: str) -> None:
        """Start a container that was made."""
        with self._said("asked to start a container"):
            self._client.start(container)

    def pid(self, container: str) -> int:
        """Give the number, in the engine's own PID namespace, of a started container's first process."""
        with self._said("asked for a container's process"):
            return int(self._client.inspect_container(container)["State"]["Pid"])

    def usage(self, container: str) -> Usage:
        """Give what a container uses: less than its control group tells, and once it is dead nothing is known."""
        with self._said("asked what a container used"):
            found = self._client.stats(container, stream=False, one_shot=True)
        if not found["memory_stats"]:  # it is dead, and all is told as 0
            return Usage(None, None, None, ())
        cpu = found["cpu_stats"]
        was_throttled = (cpu.get("throttling_data") or {}).get("throttled_periods", 0) > 0
        return Usage(
            cpu_s=cpu["cpu_usage"]["total_usage"] / 1e9,
            peak_memory_bytes=found["memory_stats"].get("max_usage"),  # on version 1 alone
            peak_processes=None,
            touched=("processors",) if was_throttled else (),
        )

    def wait(self, container: str, limit_s: float) -> Ended:
        """Wait until the container is dead and tell how it died. Raises SandboxUnhealthyError if it isn't in time."""
        try:
            self._client.wait(container, timeout=limit_s)
        except (DockerException, OSError) as error:
            raise SandboxUnhealthyError(
                f"container {container[:12]} is not known to be dead in time: {error}; "
                "take no more work here and look at the engine's log"
            ) from error
        with self._said("asked how a container died"):
            state = self._client.inspect_container(container)["State"]
        return Ended(was_out_of_memory=bool(state["OOMKilled"]), message=str(state.get("Error") or ""))

    def remove(self, container: str) -> None:
        """Kill a container if it lives, and remove it; when this returns it is dead and gone."""
        try:
            self._client.remove_container(container, v=True, force=True)
        except NotFound:
            return
        except (DockerException, OSError) as error:
            raise SandboxUnhealthyError(
                f"container {container[:12]} could not be removed: {error}; "
                "take no more work here and look at the engine's log"
            ) from error

    def kill(self, container: str) -> None:
        """Kill all of a container; one that is dead already is left as it is."""
        with suppress(DockerException, OSError):  # dead already, or not to be killed: `remove` has the last word
            self._client.kill(container)

    def labelled(self, label: str, value: str) -> Iterator[tuple[str, str]]:
        """Give each container with the label: its id and its owner."""
        with self._said("asked for our containers"):
            found = self._client.containers(all=True, filters={"label": [f"{label}={value}"]})
        for one in found:
            yield str(one["Id"]), str(one["Labels"].get(OWNER_LABEL, ""))

    @contextmanager
    def _said(self, when: str) -> Iterator[None]:
        try:
            yield
        except (DockerException, OSError) as error:
            raise SandboxError(f"the docker engine at {self._url}, {when}, said: {error}") from error


def _connect(url: str) -> Any:  # noqa: ANN401 (the package has no types)
    """Connect in the newest version that the engine speaks; leave nothing open on failure."""
    with socket.socket(socket.AF_UNIX) as door:  # the package would leave its own open when nobody answers
        door.settimeout(_ANSWER_S)
        door.connect(url.removeprefix("unix://"))
    with closing(docker.APIClient(base_url=url, version=_ANY_VERSION, timeout=_ANSWER_S)) as first:
        version = first.version(api_version=False)["ApiVersion"]
    return docker.APIClient(base_url=url, version=version, timeout=_ANSWER_S)
