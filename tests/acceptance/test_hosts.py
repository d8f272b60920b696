"""farm hosts, and what plan and status say of a fleet that can't run an arm."""

import json

import yaml

from tests.builders.farm_command import Desk
from tests.builders.faulty import SWEEP, a_bench, eventually
from tests.services.redis import RedisServer


def test_hosts_are_listed_with_what_they_do_and_offer(desk: Desk, own_redis: RedisServer) -> None:
    bench = a_bench(desk, redis_url=own_redis.url, trials=1, nap_s=0.1)
    code, out = bench.farm("hosts")
    assert (code, "no worker is alive at redis://" in out) == (0, True), out
    with bench.started("worker", "--slots", "2"):
        eventually("the worker is told of", lambda: "0/2 slots busy" in bench.farm("hosts")[1])
        (host,) = json.loads(bench.farm("hosts", "--json")[1])["hosts"]
    assert (host["slots"], host["sandbox"], host["problem"]) == (2, "bubblewrap", None)
    assert abs(host["skew_s"]) < 1
    assert host["machine"]["disk_free_bytes"] > 0
    assert f"label arch={host['machine']['architecture']}" in host["offers"]


def test_without_a_queue_hosts_says_what_to_set(desk: Desk) -> None:
    ended = desk.farm("hosts")
    assert (ended.code, "set FARM_REDIS_URL" in ended.err) == (2, True), ended


def test_a_plan_that_no_living_host_can_run_says_what_is_missing(desk: Desk, own_redis: RedisServer) -> None:
    bench = a_bench(desk, redis_url=own_redis.url, trials=1, nap_s=0.1)
    sweep = yaml.safe_load(SWEEP.format(trials=1, nap_s=0.1))
    asking = {"kind": "claude-code", "version": "0.0.1", "model": "claude-opus-5-5"}
    sweep["arms"][1] |= {"agent": asking, "provider": "nowhere"}
    (desk.here / "asking.yaml").write_text(yaml.safe_dump(sweep))
    assert (
        "needs   arm candidate: claude-code 0.0.1, provider nowhere, sandbox bubblewrap"
        in bench.farm("plan", "asking.yaml")[1]
    )
    identity = bench.farm("submit", "asking.yaml")[1].strip()
    missing = "no host that works can run arm 'candidate': it lacks claude-code 0.0.1, provider nowhere"
    with bench.started("worker", "--slots", "1"):
        eventually("the plan says it", lambda: f"missing {missing}" in bench.farm("plan", "asking.yaml")[1])
        assert missing in bench.farm("status", identity)[1]


def test_a_drained_host_is_told_of_everywhere_until_it_is_undrained(desk: Desk, own_redis: RedisServer) -> None:
    bench = a_bench(desk, redis_url=own_redis.url, trials=1, nap_s=0.1)
    code, out = bench.farm("drain", "away")
    assert (code, "no worker of away is alive" in out) == (0, True), out
    with bench.started("worker", "--slots", "1"):
        eventually("the worker is told of", lambda: "0/1 slots busy" in bench.farm("hosts")[1])
        (worker,) = json.loads(bench.farm("hosts", "--json")[1])["hosts"]
        host = worker["id"].partition("/")[0]
        code, out = bench.farm("drain", host, "--now")
        assert (code, out) == (0, f"{host} takes nothing more, and nothing runs there\n")
        assert f"`farm undrain {host}` lets it work again" in bench.farm("hosts")[1]
        identity = bench.farm("submit", "sweep.yaml")[1].strip()
        said = bench.farm("status", identity)[1]
        assert f"no host that works can run arm 'baseline': it waits for {worker['id']} (drained by" in said
        code, out = bench.farm("undrain", host)
        assert (code, out) == (0, f"{host} takes cells again: 1 slots\n")
        code, out = bench.farm("drain", f"{host}x")
        assert (code, f"did you mean '{host}'?" in out) == (0, True), out
    code, out = bench.farm("drain", worker["id"])
    assert (code, "is no host" in out) == (2, True), out


def test_the_cells_of_an_arm_with_labels_run_on_hosts_that_have_them_and_reach_no_other(
    desk: Desk, own_redis: RedisServer
) -> None:
    bench = a_bench(desk, redis_url=own_redis.url, trials=3, nap_s=0.1)
    sweep = yaml.safe_load((desk.here / "sweep.yaml").read_text())
    sweep["arms"][1]["labels"] = ["gpu"]
    (desk.here / "labelled.yaml").write_text(yaml.safe_dump(sweep))
    identity = bench.farm("submit", "labelled.yaml")[1].strip()
    with bench.started("worker", "--slots", "1"), bench.started("worker", "--slots", "1", FARM_LABELS="gpu,big"):
        eventually("two workers are there", lambda: bench.farm("hosts")[1].count("0/1 slots busy") == 2)
        (able,) = [
            host["id"].partition("/")[0]
            for host in json.loads(bench.farm("hosts", "--json")[1])["hosts"]
            if "label gpu" in host["offers"]
        ]
        code, out = bench.farm("coordinate", identity)
        assert code == 0, out
    outcomes = [json.loads(path.read_bytes()) for path in bench.records("attempts/*/*/outcome.json")]
    assert len(outcomes) == 6
    assert {outcome["host"] for outcome in outcomes if ".candidate." in outcome["cell"]} == {able}
    assert all("claim.refused" not in log.read_text() for log in desk.here.glob("worker-*.log"))
