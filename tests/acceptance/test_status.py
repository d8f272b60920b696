"""farm status, from the store and, where there is one, from Redis."""

from pathlib import Path

from tests.builders.farm_command import Desk

QUICKSTART = Path(__file__).parents[2] / "ops/examples/quickstart/sweep.yaml"


def test_what_runs_is_unknown_with_a_reason_and_never_zero(desk: Desk) -> None:
    sweep = desk.farm("submit", QUICKSTART).out.strip()
    alone = desk.farm("status", sweep)
    assert f"{sweep}: open, 0/18 done, running: unknown (FARM_REDIS_URL is not set" in alone.out
    down = desk.farm("status", sweep, env={"FARM_REDIS_URL": "redis://127.0.0.1:9/0"})
    assert (down.code, "running: unknown (Redis at redis://127.0.0.1:9/0 did not answer" in down.out) == (0, True), down
    assert '"running": null' in desk.farm("status", sweep, "--json").out
