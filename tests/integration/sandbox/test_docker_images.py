"""The image of a spec: found by its digest, run, and pulled only where that is allowed."""

from dataclasses import replace

import pytest

from sandbox.backends.docker import Docker
from sandbox.backends.unsafe_host import UnsafeHost
from sandbox.errors import SandboxError, SandboxRefusedError, SandboxUnavailableError
from sandbox.testing import Heard, script
from tests.builders.sandbox_rooms import bubblewrap, work_root
from tests.services.docker import a_small_tree
from tests.services.programs import program
from tests.services.registry import a_registry
from tests.services.waiting import wait_until

NOWHERE = f"nowhere.invalid/one@sha256:{'0' * 64}"


@pytest.fixture
def make(docker_engine, docker_image):
    made = []

    def _make(**options):
        made.append(Docker(work_root() / "docker-images", docker_image, docker_engine.url, **options))
        return made[-1]

    yield _make
    for one in made:
        one.close()


@pytest.fixture
def box(make):
    return make()


@pytest.fixture
def another(docker_engine):
    return docker_engine.load(a_small_tree(program("busybox")), "ENV MARK=another")


@pytest.fixture
def registry(docker_engine, request):
    with a_registry(a_small_tree(program("busybox"), mark=request.node.name)) as serving:
        yield serving
        if serving.id in docker_engine.cli("images", "--all", "--quiet", "--no-trunc").split():
            docker_engine.cli("image", "rm", serving.id)


def _never():
    return False


def _said(box, text, image):
    heard = Heard()
    box.run(replace(script(text), image=image), heard, _never)
    return heard.stdout.decode()


def test_a_spec_runs_in_its_own_image_and_the_next_one_in_the_hosts(box, another):
    assert [_said(box, "echo ${MARK:-none}", image) for image in (another, None)] == ["another\n", "none\n"]


def test_an_image_of_a_spec_is_as_read_only_and_as_powerless_as_the_hosts(box, another):
    text = "(echo x > /x) 2>&1; grep -e CapEff -e NoNewPrivs /proc/self/status; tail -n +3 /proc/net/dev | wc -l"
    assert _said(box, text, another) == _said(box, text, None)
    assert "Read-only file system" in _said(box, text, another)


def test_what_the_engine_has_is_told_by_digest(box, another, docker_image):
    assert {another, docker_image} <= box.images.digests()
    assert box.images.get(another, _never) == another


def test_an_image_that_is_not_there_is_named_with_what_to_do(box):
    with pytest.raises(SandboxUnavailableError, match=f"`docker pull {NOWHERE}`.*FARM_DOCKER_PULL=yes"):
        box.images.get(NOWHERE, _never)
    with pytest.raises(SandboxUnavailableError, match="docker pull, load or import"):
        _said(box, "true", NOWHERE)


def test_an_image_that_is_not_named_by_digest_is_refused(make):
    for name in ("busybox", "busybox:latest", ""):
        with pytest.raises(SandboxUnavailableError, match="tags move"):
            make(pulls=True).images.get(name, _never)


def test_an_id_is_not_looked_for_in_registries(make):
    with pytest.raises(SandboxUnavailableError, match="an id is in no registry"):
        make(pulls=True).images.get(f"sha256:{'0' * 64}", _never)


def test_nothing_is_pulled_unless_that_is_allowed(box, registry):
    with pytest.raises(SandboxUnavailableError, match="FARM_DOCKER_PULL=yes"):
        box.images.get(registry.name, _never)
    assert not registry.asked.is_set()


def test_an_image_is_pulled_where_that_is_allowed_and_then_goes_by_its_digest_under_any_name(make, registry):
    box = make(pulls=True)
    assert box.images.get(registry.name, _never) == registry.id
    assert {registry.id, registry.manifest} <= box.images.digests()
    registry.asked.clear()
    for name in (registry.name, f"another.invalid/name@{registry.manifest}", registry.id):
        assert make().images.get(name, _never) == registry.id
        assert _said(box, "cat /mark", name).startswith("test_an_image_is_pulled")
    assert not registry.asked.is_set()


def test_a_pull_that_fails_says_what_the_engine_said(make, registry):
    name = registry.name.replace(registry.manifest, f"sha256:{'0' * 64}")
    with pytest.raises(SandboxUnavailableError, match=r"could not be pulled: .*nobody knows it"):
        make(pulls=True).images.get(name, _never)


def test_a_stop_waits_for_no_registry(make, registry):
    box = make(pulls=True)
    registry.may_answer.clear()
    with pytest.raises(SandboxError, match="stopped while"):
        box.images.get(registry.name, registry.asked.is_set)
    registry.may_answer.set()
    wait_until(lambda: registry.manifest in box.images.digests(), 20)


def test_an_image_with_volumes_is_refused(box, docker_engine):
    image = docker_engine.load(a_small_tree(program("busybox")), "VOLUME /data")
    with pytest.raises(SandboxUnavailableError, match=r"declares volumes \(/data\)"):
        box.images.get(image, _never)


@pytest.mark.parametrize("kind", ["bubblewrap", "unsafe-host"])
def test_a_sandbox_that_runs_no_image_refuses_one(kind):
    box = bubblewrap() if kind == "bubblewrap" else UnsafeHost(work_root() / "host", is_allowed=True)
    assert box.images is None
    with pytest.raises(SandboxRefusedError, match=f"{kind} runs no image"):
        _said(box, "true", NOWHERE)
