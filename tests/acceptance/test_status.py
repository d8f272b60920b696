"""farm status, from the store and, where there is one, from Redis."""

import json
from datetime import UTC, datetime
from pathlib import Path

from farm import bootstrap
from farm.model import Fault, FaultKind, Outcome, SweepId, canonical_json
from farm.model.keys import outcome_key
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


def test_the_last_faults_are_told_with_their_reasons(desk: Desk) -> None:
    sweep = SweepId(desk.farm("submit", QUICKSTART).out.strip())
    store = bootstrap.open_store(json.loads(desk.farm("status", "--json").out)["store"], bootstrap.read_settings())
    plan = bootstrap.known_sweep(store, sweep)
    for number, cell in enumerate(plan.cells[:8]):
        fault = Fault(kind=FaultKind.RATE_LIMIT, detail=f"429 number {number}")
        ended_at = datetime(2026, 1, 1, minute=number, tzinfo=UTC)
        outcome = Outcome(
            sweep=sweep,
            plan=plan.digest,
            cell=cell.id,
            attempt=1,
            host="host",
            holder="host/1",
            started_at=ended_at,
            ended_at=ended_at,
            fault=fault,
        )
        store.records.create(outcome_key(sweep, cell.id, 1), canonical_json(outcome))
    told = [line for line in desk.farm("status", sweep).out.splitlines() if "fault" in line]
    expected = [f"  {plan.cells[n].id} attempt 1 (rate-limit fault): 429 number {n}" for n in range(3, 8)]
    assert told == expected
