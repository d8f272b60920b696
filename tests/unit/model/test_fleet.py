"""What cells need, and which hosts have it."""

from datetime import UTC, datetime

import pytest

from farm.model import (
    ANY_IMAGE,
    Arm,
    ArmRole,
    Digest,
    Host,
    OracleSpec,
    Pin,
    Plan,
    Snapshot,
    Task,
    image_need,
    lacking,
    unserved,
)

ID = f"sha256:{'a' * 64}"
PULLABLE = f"registry.example/tasks/one@{ID}"
ELSE = f"sha256:{'b' * 64}"


@pytest.mark.parametrize(
    ("name", "offered", "is_served"),
    [
        (PULLABLE, [ID], True),
        (ID, [ID], True),
        (PULLABLE, [ELSE], False),
        (ID, [ELSE], False),
        (PULLABLE, [], False),
    ],
)
def test_an_image_is_known_by_its_digest(name: str, offered: list[str], *, is_served: bool) -> None:
    lacks = lacking(frozenset({image_need(name)}), frozenset(image_need(one) for one in offered))
    assert lacks == (frozenset() if is_served else {image_need(name)})


def test_a_host_that_pulls_has_every_image_with_a_name_and_no_id_that_nobody_brought() -> None:
    needed = frozenset({image_need(PULLABLE), image_need(ELSE), "provider acme"})
    assert lacking(needed, frozenset({ANY_IMAGE})) == {image_need(ELSE), "provider acme"}


def _plan(*images: str | None) -> Plan:
    nothing = Digest.of(b"")
    tasks = tuple(
        Task(
            id=f"t{number}",
            snapshot=Snapshot(commit="0" * 40, tree=nothing, size_bytes=0),
            prompt=nothing,
            oracle=OracleSpec(kind="command"),
            image=image,
        )
        for number, image in enumerate(images)
    )
    arm = Arm(name="a", role=ArmRole.CONTROL, agent=Pin(name="x", version="1"), program=Pin(name="x", version="1"))
    return Plan(name="p", farm_version="0", tasks=tasks, arms=(arm,), trials=1, cells=(), sandbox="docker")


def _host(*offers: str) -> Host:
    seen_at = datetime(2026, 1, 1, tzinfo=UTC)
    return Host(id="h/1", slots=1, busy=0, version="0", sandbox="docker", seen_at=seen_at, offers=offers)


def test_a_task_whose_image_no_host_has_is_named_with_it() -> None:
    hosts = [_host(image_need(ELSE)), _host()]
    (said,) = unserved(_plan(None, ELSE, PULLABLE), hosts)
    assert said == f"no host that works can run arm 'a' on task 't2': it lacks image {PULLABLE}"


def test_each_image_may_be_on_another_host() -> None:
    assert list(unserved(_plan(PULLABLE, ELSE), [_host(image_need(ID)), _host(image_need(ELSE))])) == []


def test_an_arm_waits_for_the_hosts_that_have_what_it_needs_and_take_nothing() -> None:
    able = _host(image_need(ID))
    drained = able.model_copy(update={"draining": "drained by eve"})
    broken = able.model_copy(update={"id": "b/1", "problem": "no disk", "draining": "drained by eve"})
    (said,) = unserved(_plan(PULLABLE), [_host(), drained, broken])
    where = "no host that works can run arm 'a' on task 't0'"
    assert said == f"{where}: it waits for h/1 (drained by eve); b/1 (no disk)"
    assert list(unserved(_plan(PULLABLE), [drained, able])) == []
