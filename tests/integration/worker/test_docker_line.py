"""A whole line in docker: real engine, real gateway, scripted provider."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from farm.model import Build, Command, Dependency, FaultKind, Pin, RequestEnd, Setup, Wire
from sandbox.backends.docker import Docker
from tests.builders.worker.asking import asks
from tests.builders.worker.copies import FILES
from tests.builders.worker.farm import a_tar, says
from tests.builders.worker.working import Make, Run
from tests.services.docker import DockerEngine, a_small_tree
from tests.services.programs import program
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
    used = session.exit
    assert None not in (used.cpu_s, used.peak_memory_bytes, used.peak_processes)


def test_a_setup_a_build_and_a_dependency_with_a_cache_are_there_in_docker(
    farm: Make, run: Run, docker: Open, docker_python_image: str
) -> None:
    store = farm().store
    modules = store.blobs.put(a_tar({"left.js": "7\n", ".vite-temp/old": "old\n"}))
    task = {
        "dependencies": (Dependency(files=modules, target="node_modules", scratch=(".vite-temp",)),),
        "builds": (Build(name="lib", argv=("sh", "-c", "mkdir lib && cp node_modules/left.js lib"), output="lib"),),
        "setup": Setup(argv=("sh", "-c", "echo ready >state && echo x >node_modules/.vite-temp/x")),
    }
    looks = 'grep -q 7 lib/left.js && grep -q ready state && test -z "$(ls node_modules/.vite-temp)" && ! touch lib/x'
    cell = farm(
        {"run": {"command": looks, "must_succeed": True}},
        sandbox=docker(docker_python_image),
        store=store,
        task=task,
        oracle=says(looks),
    )
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    assert evidence.sessions[0].problem is None
    assert evidence.oracle.correct is True


@pytest.fixture
def marked_image(docker_engine: DockerEngine) -> str:
    return docker_engine.load(a_small_tree(program("busybox"), mark="the task's own"))


TELLS_THE_MARK = Pin(
    name="command", version="1", options={"argv": ["cat", "/mark"], "answer": {"from": "stdout"}, "wire": None}
)
HAS_THE_MARK = ["grep", "-qx", "the task's own", "/mark"]


def test_session_verify_and_oracle_run_in_the_image_that_their_task_brings(
    farm: Make, run: Run, docker: Open, docker_image: str, marked_image: str
) -> None:
    cell = farm(
        agent=TELLS_THE_MARK,
        oracle=says('grep -qx "the task\'s own" /mark'),
        task={"image": marked_image, "verify": Command(argv=HAS_THE_MARK)},
        sandbox=docker(docker_image),
    )
    cell.offers = (f"image {marked_image}",)
    assert run(cell) is LineEnd.RECORDED
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    assert evidence.sessions[0].final_answer == "the task's own"
    assert evidence.verify is not None
    assert (evidence.verify.exit.code, evidence.oracle.correct) == (0, True)
    assert evidence.sandbox["image"] == marked_image


def test_an_image_that_is_not_here_is_the_hosts_fault_and_named(
    farm: Make, run: Run, docker: Open, docker_image: str
) -> None:
    name = f"nowhere.invalid/one@sha256:{'0' * 64}"
    cell = farm(agent=TELLS_THE_MARK, task={"image": name}, sandbox=docker(docker_image))
    cell.offers = (f"image sha256:{'0' * 64}",)
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert (fault.kind, f"docker pull {name}" in fault.detail) == (FaultKind.HOST, True)


def test_a_host_takes_no_cell_whose_image_it_does_not_offer(
    farm: Make, run: Run, docker: Open, docker_image: str, marked_image: str
) -> None:
    cell = farm(agent=TELLS_THE_MARK, task={"image": marked_image}, sandbox=docker(docker_image))
    assert run(cell) is LineEnd.REFUSED
    cell.offers = (f"image {marked_image}",)
    assert run(cell) is LineEnd.RECORDED


def test_a_session_in_docker_works_in_whatever_workspace_its_engine_was_seen_to_show(
    farm: Make, run: Run, docker: Open, docker_python_image: str
) -> None:
    script = {"run": {"command": "mv many m && echo changed >src/a.py"}}
    oracle = says("test -f m/001/file.txt && grep -q changed src/a.py && test ! -e many")
    cell = farm(script, files=FILES, oracle=oracle, sandbox=docker(docker_python_image))
    assert run(cell) is LineEnd.RECORDED
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    assert evidence.oracle.correct is True
    assert str(evidence.sandbox["workspace"]).startswith("overlay: ")
