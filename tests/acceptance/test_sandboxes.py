"""A sweep in another sandbox than bubblewrap."""

import json
from pathlib import Path

from tests.builders.farm_command import Desk, Ended, a_repository
from tests.services.docker import DockerEngine, a_small_tree
from tests.services.programs import program
from tests.services.registry import a_registry

_ECHO = "{kind: command, argv: [sh, -c, 'echo hello > greeting.txt; echo done']}"
SWEEP = f"""\
name: elsewhere
sandbox: {{backend}}
tasks:
  - id: greet
    repository: {{{{path: .}}}}
    prompt: Write hello into greeting.txt.
    oracle: {{{{kind: command, argv: [grep, -qx, hello, greeting.txt]}}}}
arms:
  - {{{{name: plain, role: comparator, agent: {_ECHO.replace("{", "{{").replace("}", "}}")}}}}}
"""


def _in_docker(engine: DockerEngine, image: str) -> dict[str, str]:
    return {"FARM_SANDBOX": "docker", "FARM_DOCKER_IMAGE": image, "FARM_DOCKER_ENGINE": engine.url}


def _run(desk: Desk, backend: str, env: dict[str, str]) -> tuple[int, str]:
    a_repository(desk.here, {"README": "Any repository.\n"})
    (desk.here / "sweep.yaml").write_text(SWEEP.format(backend=backend))
    ran = desk.farm("run", "sweep.yaml", env={"FARM_WORK_ROOT": str(desk.scratch / "root"), **env})
    return ran.code, ran.out + ran.err


def _facts(desk: Desk) -> dict[str, object]:
    outcome = next(desk.here.glob(".farm/store/sweeps/*/attempts/*/1/outcome.json"))
    facts: dict[str, object] = json.loads(outcome.read_bytes())["evidence"]["sandbox"]
    return facts


def _report(desk: Desk) -> str:
    found: Path = next(desk.here.glob(".farm/store/sweeps/*/report/report.md"))
    return found.read_text()


def test_a_sweep_runs_in_docker_and_its_evidence_names_the_image(
    desk: Desk, docker_engine: DockerEngine, docker_image: str
) -> None:
    code, said = _run(desk, "docker", _in_docker(docker_engine, docker_image))
    assert code == 0, said
    assert (_facts(desk)["backend"], _facts(desk)["image"]) == ("docker", docker_image)
    assert "nothing contained the sessions" not in _report(desk)
    assert docker_engine.containers() == []


IN_ITS_IMAGE = """\
name: imaged
sandbox: docker
tasks:
  - id: read
    repository: {{path: repository}}
    prompt: Say what /mark holds.
    image: {image}
    oracle: {{kind: command, argv: [grep, -qx, from the image, mark.txt]}}
arms:
  - {{name: plain, role: comparator, agent: {{kind: command, argv: [cp, /mark, mark.txt]}}}}
"""


def _run_in(image: str, desk: Desk, env: dict[str, str]) -> Ended:
    if not (desk.here / "repository").exists():
        a_repository(desk.here / "repository", {"README": "Any repository.\n"})
    (desk.here / "sweep.yaml").write_text(IN_ITS_IMAGE.format(image=image))
    return desk.farm("run", "sweep.yaml", env={"FARM_WORK_ROOT": str(desk.scratch / "root"), **env})


def test_a_task_brings_its_own_image_and_one_that_no_host_has_is_named_before_anything_is_stored(
    desk: Desk, docker_engine: DockerEngine, docker_image: str
) -> None:
    own = docker_engine.load(a_small_tree(program("busybox"), mark="from the image"))
    missing = f"nowhere.invalid/one@sha256:{'0' * 64}"
    refused = _run_in(missing, desk, _in_docker(docker_engine, docker_image))
    assert refused.code == 2, refused
    assert f"no host that works can run arm 'plain' on task 'read': it lacks image {missing}" in refused.err
    assert "FARM_DOCKER_PULL=yes" in refused.err
    assert not list(desk.here.glob(".farm/store/sweeps/*/plan.json"))
    ran = _run_in(own, desk, _in_docker(docker_engine, docker_image))
    assert ran.code == 0, ran
    assert (_facts(desk)["backend"], _facts(desk)["image"]) == ("docker", own)


def test_a_host_that_may_pull_gets_a_tasks_image_and_its_evidence_says_which_that_is(
    desk: Desk, docker_engine: DockerEngine, docker_image: str
) -> None:
    env = _in_docker(docker_engine, docker_image) | {"FARM_DOCKER_PULL": "yes"}
    with a_registry(a_small_tree(program("busybox"), mark="from the image")) as registry:
        ran = _run_in(registry.name, desk, env)
    assert ran.code == 0, ran
    assert _facts(desk)["image"] == registry.id
    docker_engine.cli("image", "rm", registry.id)


def _on_the_host(**more: str) -> dict[str, str]:
    return {"FARM_SANDBOX": "unsafe-host", "FARM_ALLOW_UNSAFE_HOST": "yes", "CI": "", **more}


def test_a_sweep_that_decides_nothing_runs_uncontained_and_its_report_says_so(desk: Desk) -> None:
    code, said = _run(desk, "unsafe-host", _on_the_host())
    assert code == 0, said
    assert (_facts(desk)["backend"], _facts(desk)["containment"]) == ("unsafe-host", "none")
    assert "Sandbox unsafe-host: nothing contained the sessions, so these numbers prove nothing." in _report(desk)


def test_uncontained_cells_are_refused_where_ci_is_set_or_nobody_allowed_them(desk: Desk) -> None:
    code, said = _run(desk, "unsafe-host", _on_the_host(CI="true"))
    assert (code, "where CI is set" in said) == (2, True), said
    again = desk.farm("run", "sweep.yaml", env=_on_the_host(FARM_ALLOW_UNSAFE_HOST="no"))
    assert (again.code, "FARM_ALLOW_UNSAFE_HOST=yes" in again.err) == (2, True), again


def test_docker_without_an_image_is_refused_before_any_cell(desk: Desk) -> None:
    code, said = _run(desk, "docker", {"FARM_SANDBOX": "docker"})
    assert code == 2
    assert "FARM_DOCKER_IMAGE" in said
