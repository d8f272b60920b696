"""farm status, from the store and, where there is one, from Redis."""

from pathlib import Path

from tests.builders.farm_command import Desk
from tests.builders.faulty import a_bench, eventually
from tests.services.redis import RedisServer

QUICKSTART = Path(__file__).parents[2] / "ops/examples/quickstart/sweep.yaml"


def test_what_runs_is_unknown_with_a_reason_and_never_zero(desk: Desk) -> None:
    sweep = desk.farm("submit", QUICKSTART).out.strip()
    alone = desk.farm("status", sweep)
    assert f"{sweep}: open, 0/18 done, running: unknown (FARM_REDIS_URL is not set" in alone.out
    down = desk.farm("status", sweep, env={"FARM_REDIS_URL": "redis://127.0.0.1:9/0"})
    assert (down.code, "running: unknown (Redis at redis://127.0.0.1:9/0 did not answer" in down.out) == (0, True), down
    assert '"running": null' in desk.farm("status", sweep, "--json").out


def test_how_far_running_sessions_are_is_told_while_they_run(desk: Desk, own_redis: RedisServer) -> None:
    bench = a_bench(desk, redis_url=own_redis.url, trials=1, nap_s=60.5)
    sweep = bench.farm("submit", "sweep.yaml")[1].strip()
    with bench.started("worker", "--slots", "1"), bench.started("coordinate", sweep):
        eventually("the session is told of", lambda: "I am about to sleep." in bench.farm("status", sweep)[1])
        told = bench.farm("status", sweep)[1]
        assert "nap.baseline.1  work on worker-" in told
        assert bench.farm("cancel", sweep)[0] == 5
        eventually("it is over", lambda: "running: 0" in bench.farm("status", sweep)[1])
        assert "I am about to sleep." not in bench.farm("status", sweep)[1]
