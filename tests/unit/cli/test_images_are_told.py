"""What plan and hosts say of images."""

from datetime import UTC, datetime

from farm.cli import hosts, plan
from farm.model import ANY_IMAGE, Digest, Host, OracleSpec, Plan, Snapshot, Task, image_need

IMAGE = f"registry.example/one@sha256:{'a' * 64}"


def test_a_plan_names_the_image_of_a_task() -> None:
    nothing = Digest.of(b"")
    task = Task(
        id="t",
        snapshot=Snapshot(commit="0" * 40, tree=nothing, size_bytes=0),
        prompt=nothing,
        oracle=OracleSpec(kind="command"),
        image=IMAGE,
    )
    made = Plan(name="p", farm_version="0", tasks=(task,), arms=(), trials=1, cells=(), sandbox="docker")
    assert f"task    t  at commit 000000000000, oracle command, image {IMAGE}" in plan.describe(made)


def test_a_hosts_images_are_counted() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    offers = ("provider acme", *(image_need(f"sha256:{number:064}") for number in range(300)), ANY_IMAGE)
    host = Host(id="h/1", slots=1, busy=0, version="0", sandbox="docker", seen_at=now, offers=offers)
    assert hosts.describe(host, now)[1:] == ["  offers provider acme, images by their names, 300 digests of images"]
