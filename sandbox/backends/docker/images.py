"""The engine's images: found by digest, whatever they are called here, and pulled only where that is allowed."""

import re
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Any

from docker.errors import DockerException, NotFound  # type: ignore[import-untyped]  # it ships no types

from sandbox.backends.docker.container import Image
from sandbox.errors import SandboxError, SandboxUnavailableError

_PINNED = re.compile(r"(?:.+@)?sha256:[0-9a-f]{64}")
_LOOK_S = 0.1


class EngineImages:
    """The images of one engine. `connect` makes a connection of its own for a pull, which outlives a stop."""

    def __init__(self, client: Any, connect: Callable[[], Any], where: str, *, pulls: bool) -> None:  # noqa: ANN401 (the package has no types)
        self._client = client
        self._connect = connect
        self._where = where
        self._pulls = pulls

    def digests(self) -> frozenset[str]:
        """List every digest by which `get` finds an image without a pull."""
        return frozenset(self._here())

    def get(self, name: str, stop: Callable[[], bool]) -> str:
        """Give the id of the image that `name` pins, after a pull if need be and allowed.

        Raises SandboxUnavailableError when there is none, SandboxError when `stop` says True before it is there.
        """
        _ensure_pinned(name)
        if self._find(name) is None:
            self._pull(name, stop)
        return self.load(name).id

    def load(self, name: str) -> Image:
        """Read an image that is here and named by digest. Raises SandboxUnavailableError."""
        _ensure_pinned(name)
        found = self._find(name)
        if found is None:
            raise SandboxUnavailableError(
                f"image {name} is not on the engine at {self._where}; docker pull, load or import it there"
            )
        config = found.get("Config") or {}
        if config.get("Volumes"):
            raise SandboxUnavailableError(
                f"image {name} declares volumes ({', '.join(config['Volumes'])}), which would be writable and "
                "without a limit; build it again without VOLUME"
            )
        return Image(id=str(found["Id"]), env=dict(pair.split("=", 1) for pair in config.get("Env") or ()))

    def _find(self, name: str) -> Mapping[str, Any] | None:
        found = self._look(name)
        if found is not None:
            return found
        digest = name.rpartition("@")[2]
        same = self._here().get(digest)
        return None if same is None else self._look(same)

    def _look(self, name: str) -> Mapping[str, Any] | None:
        try:
            found: Mapping[str, Any] = self._client.inspect_image(name)
        except NotFound:
            return None
        except (DockerException, OSError) as error:
            raise SandboxUnavailableError(f"the engine could not look at image {name}: {error}") from error
        return found

    def _here(self) -> dict[str, str]:
        """Give each digest that an image goes by, and that image's id."""
        try:
            images = self._client.images(all=True)
        except (DockerException, OSError) as error:
            raise SandboxError(f"the docker engine at {self._where}, asked for its images, said: {error}") from error
        found = {str(one["Id"]): str(one["Id"]) for one in images}
        for one in images:
            for name in one.get("RepoDigests") or ():
                found.setdefault(str(name).rpartition("@")[2], str(one["Id"]))
        return found

    def _pull(self, name: str, stop: Callable[[], bool]) -> None:
        """Pull beside us, so that a stop waits for no registry; what was begun goes on, for whoever comes next."""
        repository, _, digest = name.rpartition("@")
        if not repository:
            raise SandboxUnavailableError(
                f"image {name} is not on the engine at {self._where}, and an id is in no registry: docker load it there"
            )
        if not self._pulls:
            raise SandboxUnavailableError(
                f"image {name} is not on the engine at {self._where}: `docker pull {name}` there, or let its workers "
                "do so by FARM_DOCKER_PULL=yes"
            )
        failures: list[str] = []
        pulling = Thread(target=self._pull_whole, args=(repository, digest, failures), daemon=True)
        pulling.start()
        while pulling.is_alive():
            if stop():
                raise SandboxError(f"stopped while image {name} was pulled")
            pulling.join(_LOOK_S)
        if failures:
            raise SandboxUnavailableError(f"image {name} could not be pulled: {failures[0]}")

    def _pull_whole(self, repository: str, digest: str, failures: list[str]) -> None:
        try:
            client = self._connect()
            try:
                said = client.pull(repository, tag=digest, stream=True, decode=True)
                failures += [str(line["error"]) for line in said if "error" in line]
            finally:
                client.close()
        except (DockerException, OSError) as error:
            failures.append(str(error))


def _ensure_pinned(name: str) -> None:
    if not _PINNED.fullmatch(name):
        raise SandboxUnavailableError(
            f"image {name!r} is not named by digest: tags move; give sha256:… as `docker images --no-trunc` says"
        )
