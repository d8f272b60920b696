"""The worker's settings: what is refused before a cell is taken."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from farm.errors import SpecError
from farm.model.time_window import Instance
from worker.settings import WorkerSettings


@pytest.mark.parametrize(("lease_ttl_s", "beat_s"), [(30, 5), (3, 1), (1.5, 0.5), (3, 0.5)])
def test_a_lease_that_outlives_two_lost_heartbeats_is_taken(lease_ttl_s: float, beat_s: float) -> None:
    settings = WorkerSettings(lease_ttl_s=lease_ttl_s, beat_s=beat_s, work_root=Path("/nowhere"))
    assert (settings.lease_ttl_s, settings.beat_s) == (lease_ttl_s, beat_s)


@pytest.mark.parametrize(
    ("lease_ttl_s", "beat_s", "words"),
    [
        (30, 11, "FARM_BEAT_S is 11"),
        (14, 5, "FARM_LEASE_TTL_S is 14"),
        (60, 5.5, "set FARM_BEAT_S to at most 5"),
        (10, 5, "set FARM_LEASE_TTL_S to at least 15"),
    ],
)
def test_heartbeats_too_rare_for_the_lease_or_for_the_coordinator_are_refused(
    lease_ttl_s: float, beat_s: float, words: str
) -> None:
    with pytest.raises(SpecError) as refused:
        WorkerSettings(lease_ttl_s=lease_ttl_s, beat_s=beat_s)
    assert words in str(refused.value)
    assert "FARM_BEAT_S" in str(refused.value)
    assert "FARM_LEASE_TTL_S" in str(refused.value)


def test_a_host_s_window_is_read_and_a_wrong_one_is_named() -> None:
    assert WorkerSettings().hours.left_s(None) is None
    assert WorkerSettings(window="instance 24h reserve 90m").hours.window == Instance(86_400.0, 5400.0)
    with pytest.raises(SpecError, match="FARM_WINDOW: 'nightly' is no time window"):
        WorkerSettings(window="nightly")


def test_a_host_has_its_labels_and_that_of_its_architecture() -> None:
    arch = f"arch={os.uname().machine}"
    assert WorkerSettings(labels="gpu,zone=eu").all_labels == {"gpu", "zone=eu", arch}
    assert WorkerSettings().all_labels == {arch}


@pytest.mark.parametrize("labels", ["gpu, zone", "GPU", ",", "a,,b"])
def test_labels_that_no_arm_could_name_are_refused(labels: str) -> None:
    with pytest.raises(ValidationError, match="labels"):
        WorkerSettings(labels=labels)
