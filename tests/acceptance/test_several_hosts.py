"""Everything real at once: an S3 server, a Redis of its own, a coordinator, two workers, the finalizer, the audit."""

import json
from pathlib import Path

from tests.builders.farm_command import Desk
from tests.services.redis import RedisServer
from tests.services.s3 import S3Place

ROOT = Path(__file__).parents[2]
SWEEP = ROOT / "ops/examples/quickstart/sweep.yaml"


def test_two_workers_carry_the_quickstart_over_redis_and_s3(desk: Desk, own_redis: RedisServer, s3: S3Place) -> None:
    access = {
        "FARM_REDIS_URL": own_redis.url,
        "FARM_STORE": s3.url,
        "FARM_S3_ENDPOINT_URL": s3.access.endpoint_url or "",
        "FARM_S3_ACCESS_KEY": s3.access.access_key or "",
        "FARM_S3_SECRET_KEY": s3.access.secret_key or "",
        "FARM_S3_REGION": s3.access.region or "us-east-1",
        "FARM_S3_PATH_STYLE": "true",
    }
    submitted = desk.farm("submit", SWEEP, env=access)
    assert submitted.code == 0, submitted
    sweep = submitted.out.strip()
    hosts = [
        access | {"FARM_HOST_ID": name, "FARM_WORK_ROOT": str(desk.scratch / name)} for name in ("host-a", "host-b")
    ]
    with desk.started("worker", "--slots", "1", env=hosts[0]), desk.started("worker", "--slots", "1", env=hosts[1]):
        coordinated = desk.farm("coordinate", sweep, env=access)
    assert coordinated.code == 0, coordinated
    finalized = desk.farm("finalize", sweep, "--json", env=access)
    assert finalized.code == 0, finalized
    document = json.loads(finalized.out)
    assert [verdict["decision"] for verdict in document["verdicts"]] == ["pass"]
    verified = desk.farm("verify", sweep, env=access)
    assert verified.code == 0, verified
    assert desk.files() & {"store"} == set()
