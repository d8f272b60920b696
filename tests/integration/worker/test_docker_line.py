"""A whole line in docker: real engine, real gateway, scripted provider."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from farm.model import RequestEnd, Wire
from sandbox.backends.docker import Docker
from tests.builders.worker.asking import asks
from tests.builders.worker.working import Make, Run
from tests.services.docker import DockerEngine
from tests.services.provider import saying, serving
from worker.cell.recording import LineEnd
from worker.gateway import Upstream

HELLO = saying("hello", ordinary_input=100, cache_read=20, cache_write=0, output=7)
Open = Callable[[str], Docker]


@pytest.fixture
def docker(docker_engine: DockerEngine, work_root: Path) -> Iterator[Open]:
    made = []

    def of(image: str) -> Docker:
        made.append(Docker(work_root, image, docker_engine.url))
        return made[-1]

    yield of
    for one in made:
        one.close()


def test_a_session_in_docker_asks_its_provider_through_its_door(
    farm: Make, run: Run, docker: Open, docker_python_image: str
) -> None:
    cell = farm(agent=asks("m"), provider="acme", sandbox=docker(docker_python_image))
    with serving(HELLO) as provider:
        cell.upstreams["acme"] = Upstream("acme", frozenset({Wire.ANTHROPIC}), provider.url, "sk-ant-a-key")
        assert run(cell) is LineEnd.RECORDED
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    (session,) = evidence.sessions
    assert (session.problem, session.final_answer) == (None, "hello")
    assert session.door is not None
    assert session.door.ends == {RequestEnd.ANSWERED: 1}
    assert evidence.sandbox["backend"] == "docker"
