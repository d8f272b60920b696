"""The docker backend keeps the protocol, on an engine of the tests' own."""

import pytest

from sandbox.backends.docker import Docker
from sandbox.testing import SandboxConformance
from tests.builders.sandbox_rooms import work_root


@pytest.fixture(scope="class")
def backend(request, docker_engine, docker_image):
    made = Docker(work_root() / "docker", docker_image, docker_engine.url)
    request.cls.shared = made
    yield
    made.close()


@pytest.mark.usefixtures("backend")
class TestDocker(SandboxConformance):
    added_environment = frozenset({"HOSTNAME"})  # the engine always sets it

    def guest(self, slot):
        return self.backend.owner(slot)  # an engine without user namespaces shows the host's ids

    def make(self, folder):
        del folder
        return self.shared
