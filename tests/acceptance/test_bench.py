"""The benches still run; their figures are for people and other days."""

import json
import subprocess
import sys
from pathlib import Path

BENCHES = Path(__file__).parents[2] / "ops" / "bench"


def test_the_bench_measures_cells_celery_and_bubblewrap_in_one_run() -> None:
    options = ("--cells", "8", "--slots", "2", "--repetitions", "1", "--json")
    ran = subprocess.run((sys.executable, BENCHES / "cells.py", *options), capture_output=True, text=True, check=False)
    assert ran.returncode in {0, 1}, ran.stderr
    report = json.loads(ran.stdout)
    assert len(report["rounds"]) == 1
    assert min(report["celery_tasks_per_s"], report["celery_cpu_ms"], report["bwrap_pair_cpu_ms"]) > 0


def test_the_door_adds_less_than_half_a_millisecond_to_a_request_at_the_median() -> None:
    ran = subprocess.run((sys.executable, BENCHES / "door.py", "200"), capture_output=True, text=True, check=True)
    added = [float(line.split()[-1]) for line in ran.stdout.splitlines() if line.startswith("keep-alive")]
    assert len(added) == 2
    assert max(added) < 0.5


def test_the_tool_rooms_bench_measures_each_way_to_run_a_tool() -> None:
    ran = subprocess.run((sys.executable, BENCHES / "tool_room.py", "5"), capture_output=True, text=True, check=True)
    assert sum(line.startswith("/bin/true") for line in ran.stdout.splitlines()) == 3


def test_the_sandbox_bench_times_each_way_to_start_and_a_cancel() -> None:
    words = (sys.executable, BENCHES / "sandbox.py", "5", "1")
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode in {0, 1}, ran.stderr
    assert sum(" p50 " in line for line in ran.stdout.splitlines()) == 5


def test_the_gateways_bench_measures_what_it_and_litellm_add_and_64_streams_at_one_time() -> None:
    words = (sys.executable, BENCHES / "gateway.py", "--rounds", "5", "--litellm", sys.prefix, "--json")
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode in {0, 1}, ran.stderr
    report = json.loads(ran.stdout)
    assert [(one["way"], one["kind"]) for one in report["added"]] == [
        ("gateway", "whole"),
        ("litellm", "whole"),
        ("gateway", "streamed"),
        ("litellm", "streamed"),
    ]
    assert all(one["p95_ms"] >= one["p50_ms"] > 0 for one in report["added"] if one["way"] == "litellm")
    assert set(report["shares"]) == {"whole", "streamed"}
    assert (report["crowd"]["streams"], report["crowd"]["complete"]) == (64, 64)


def test_packed_is_within_one_percent_of_the_bound_on_recorded_sessions_and_waves_are_not() -> None:
    words = (sys.executable, BENCHES / "schedule.py", "--json")
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    report = json.loads(ran.stdout)
    over = {(one["order"], one["ahead"]): one["over"] for one in report["orders"]}
    assert max(over["packed, each known", None], over["packed, each known", 6]) < 0.01
    assert 0.51 < over["waves", None] < 0.53
    assert [one["trip"] for one in report["overruns"]] == [4, 8, 16]
    assert max(one["overrun"] for one in report["overruns"]) <= 5


def test_a_schedule_that_cannot_be_is_refused_before_anything_is_measured() -> None:
    words = (sys.executable, BENCHES / "schedule.py", "--slots", "7", "--ahead", "6")
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")


def test_the_workspaces_bench_times_each_way_that_this_host_offers_beside_a_sanitised_clone() -> None:
    words = (sys.executable, BENCHES / "workspaces.py", "--files", "150", "--mib", "1", "--rounds", "1", "--json")
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    report = json.loads(ran.stdout.splitlines()[-1])
    assert {"clone and sanitise", "copy"} <= report["remove_ms"].keys() <= report["make_ms"].keys()


def test_a_pilot_of_the_reliability_protocol_finds_the_harm_of_a_scripted_model() -> None:
    words = (sys.executable, BENCHES / "live_offline.py", "HARMFUL", "--pilot", "2")
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout[:13]) == (0, "ok   HARMFUL:"), ran
    assert "(6 cells in" in ran.stdout
